#include "keratin/callbacks/callbacks.h"

#include <cmath>
#include <iostream>

#include "keratin/callbacks/monitor.h"

namespace keratin {
namespace {

class EarlyStoppingCallback final : public Callback {
 public:
  explicit EarlyStoppingCallback(EarlyStoppingOptions options)
      : options_(std::move(options)),
        monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {}
  bool reads_batch_logs() const override { return false; }

  void on_train_begin(Training&) override {
    wait_ = 0;
    stopped_.reset();
    best_.reset();
    best_weights_.clear();
    best_epoch_ = 0;
  }

  void on_epoch_end(Training& training, int64_t epoch, Logs& logs) override {
    const auto current = monitor_.read(logs, "Early stopping");
    if (!current || epoch < options_.start_from_epoch) return;
    const auto remember = [&] {
      best_epoch_ = epoch;
      if (options_.restore_best_weights) best_weights_ = training.model()->get_weights();
    };
    if (best_weights_.empty()) remember();
    ++wait_;
    if (monitor_.improves(training, *current, best_)) {
      best_ = current;
      remember();
      // The wait starts again only if the value is better than the baseline too.
      if (!options_.baseline || monitor_.improves(training, *current, options_.baseline)) wait_ = 0;
      return;
    }
    if (wait_ < options_.patience || epoch == 0) return;
    stopped_ = epoch;
    training.stop_training = true;
  }

  void on_train_end(Training& training, const Logs&) override {
    if (stopped_ && options_.verbose > 0)
      std::cout << "Epoch " << *stopped_ + 1 << ": early stopping\n";
    if (best_weights_.empty()) return;
    if (options_.verbose > 0)
      std::cout << "Restoring model weights from the end of the best epoch: " << best_epoch_ + 1
                << ".\n";
    training.model()->set_weights(best_weights_);
  }

 private:
  EarlyStoppingOptions options_;
  Monitor monitor_;
  int64_t wait_ = 0, best_epoch_ = 0;
  std::optional<int64_t> stopped_;
  std::optional<double> best_;
  std::vector<Tensor> best_weights_;
};

class TerminateOnNaNCallback final : public Callback {
 public:
  void on_train_batch_end(Training& training, int64_t step, const Logs& logs) override {
    const auto loss = logs.find("loss");
    if (loss == logs.end() || std::isfinite(loss->second)) return;
    std::cout << "Batch " << step << ": Invalid loss, terminating training\n";
    training.stop_training = true;
  }
};

}  // namespace

CallbackPtr EarlyStopping(EarlyStoppingOptions options) {
  return std::make_shared<EarlyStoppingCallback>(std::move(options));
}

CallbackPtr TerminateOnNaN() { return std::make_shared<TerminateOnNaNCallback>(); }

}  // namespace keratin

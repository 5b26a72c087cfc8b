#include "keratin/callbacks/callbacks.h"

#include <algorithm>
#include <iostream>

#include "keratin/base/text.h"
#include "keratin/callbacks/monitor.h"

namespace keratin {
namespace {

class ReduceLROnPlateauCallback final : public Callback {
 public:
  explicit ReduceLROnPlateauCallback(ReduceLROnPlateauOptions options)
      : options_(std::move(options)),
        monitor_("ReduceLROnPlateau", options_.monitor, options_.mode, options_.min_delta) {
    require(
        options_.factor < 1,
        "ReduceLROnPlateau does not support a factor >= 1.0. Received factor=", options_.factor);
  }
  bool reads_batch_logs() const override { return false; }

  void on_train_begin(Training&) override {
    best_.reset();
    cooling_ = wait_ = 0;
  }

  void on_epoch_end(Training& training, int64_t epoch, Logs& logs) override {
    const double rate = training.optimizer().learning_rate();
    logs["learning_rate"] = rate;
    const auto current = monitor_.read(logs, "Learning rate reduction is");
    if (!current) return;
    if (cooling_ > 0) {
      --cooling_;
      wait_ = 0;
    }
    if (monitor_.improves(training, *current, best_)) {
      best_ = current;
      wait_ = 0;
      return;
    }
    if (cooling_ > 0 || ++wait_ < options_.patience || rate <= options_.min_lr) return;
    const double lower = std::max(rate * options_.factor, options_.min_lr);
    training.optimizer().set_learning_rate(lower);
    if (options_.verbose > 0)
      std::cout << "\nEpoch " << epoch + 1 << ": ReduceLROnPlateau reducing learning rate to "
                << lower << ".\n";
    cooling_ = options_.cooldown;
    wait_ = 0;
  }

 private:
  ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t cooling_ = 0, wait_ = 0;
};

class LearningRateSchedulerCallback final : public Callback {
 public:
  LearningRateSchedulerCallback(std::function<double(int64_t, double)> schedule, int verbose)
      : schedule_(std::move(schedule)), verbose_(verbose) {
    require(schedule_ != nullptr,
            "LearningRateScheduler: expected a schedule, got an empty function");
  }
  bool reads_batch_logs() const override { return false; }

  void on_epoch_begin(Training& training, int64_t epoch) override {
    const double rate = schedule_(epoch, training.optimizer().learning_rate());
    training.optimizer().set_learning_rate(rate);
    if (verbose_ > 0)
      std::cout << "\nEpoch " << epoch + 1 << ": LearningRateScheduler setting learning rate to "
                << rate << ".\n";
  }
  void on_epoch_end(Training& training, int64_t, Logs& logs) override {
    logs["learning_rate"] = training.optimizer().learning_rate();
  }

 private:
  std::function<double(int64_t, double)> schedule_;
  int verbose_;
};

class SwapEMAWeightsCallback final : public Callback {
 public:
  explicit SwapEMAWeightsCallback(bool on_epoch) : on_epoch_(on_epoch) {}
  bool reads_batch_logs() const override { return false; }

  void on_train_begin(Training& training) override {
    require(!training.optimizer().averages().empty(),
            "SwapEMAWeights must be used when `use_ema=True` is set on the optimizer.");
  }
  void on_epoch_begin(Training& training, int64_t) override {
    if (swapped_) swap(training);
  }
  void on_test_begin(Training& training) override {
    if (!on_epoch_) swap(training);
  }
  void on_test_end(Training& training, const Logs&) override {
    if (!on_epoch_) swap(training);
  }
  void on_epoch_end(Training& training, int64_t epoch, Logs&) override {
    if (!on_epoch_) return;
    swap(training);
    // At its end, training assigns the averages to the model, which holds them already: so the
    // averages are set to the same values.
    if (epoch + 1 < training.epochs && !training.stop_training) return;
    for (size_t i = 0; i < training.optimizer().averages().size(); ++i)
      training.optimizer().averages()[i].assign(training.optimizer().trained()[i].value());
  }

 private:
  void swap(Training& training) {
    const auto &weights = training.optimizer().trained(), &means = training.optimizer().averages();
    for (size_t i = 0; i < weights.size(); ++i) {
      const Tensor own = weights[i].value().clone();
      weights[i].assign(means[i].value());
      means[i].assign(own);
    }
    swapped_ = !swapped_;
  }
  bool on_epoch_, swapped_ = false;
};

}  // namespace

CallbackPtr ReduceLROnPlateau(ReduceLROnPlateauOptions options) {
  return std::make_shared<ReduceLROnPlateauCallback>(std::move(options));
}

CallbackPtr LearningRateScheduler(std::function<double(int64_t, double)> schedule, int verbose) {
  return std::make_shared<LearningRateSchedulerCallback>(std::move(schedule), verbose);
}

CallbackPtr SwapEMAWeights(bool swap_on_epoch) {
  return std::make_shared<SwapEMAWeightsCallback>(swap_on_epoch);
}

}  // namespace keratin

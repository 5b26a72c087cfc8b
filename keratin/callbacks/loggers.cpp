#include "keratin/callbacks/callbacks.h"

#include <fstream>
#include <iomanip>
#include <iostream>

#include "keratin/base/text.h"
#include "keratin/train/progress_bar.h"

namespace keratin {
namespace {

class CSVLoggerCallback final : public Callback {
 public:
  explicit CSVLoggerCallback(CSVLoggerOptions options) : options_(std::move(options)) {}
  bool reads_batch_logs() const override { return false; }

  void on_train_begin(Training&) override {
    std::error_code none;
    const bool appends = options_.append && std::filesystem::exists(options_.filename) &&
                         std::filesystem::file_size(options_.filename, none) > 0;
    file_.open(options_.filename, options_.append ? std::ios::app : std::ios::trunc);
    require(file_.good(), "CSVLogger: ", options_.filename.string(), " cannot be written");
    file_ << std::setprecision(17);
    header_ = !appends;
    keys_.clear();
  }

  void on_epoch_end(Training&, int64_t epoch, Logs& logs) override {
    if (keys_.empty()) choose(logs);
    file_ << epoch;
    for (const std::string& key : keys_) {
      file_ << options_.separator;
      if (const auto found = logs.find(key); found != logs.end())
        file_ << found->second;
      else
        file_ << "NA";
    }
    file_ << "\r\n" << std::flush;
  }

  void on_train_end(Training&, const Logs&) override { file_.close(); }

 private:
  // The columns are the logs of the first epoch. If it has no validation, later epochs may have
  // one.
  void choose(const Logs& logs) {
    bool validated = false;
    for (const auto& item : logs) {
      keys_.push_back(item.first);
      validated = validated || item.first.starts_with("val_");
    }
    if (!validated)
      for (const auto& item : logs) keys_.push_back("val_" + item.first);
    if (!header_) return;
    file_ << "epoch";
    for (const std::string& key : keys_) file_ << options_.separator << key;
    file_ << "\r\n";
  }

  CSVLoggerOptions options_;
  std::ofstream file_;
  std::vector<std::string> keys_;
  bool header_ = true;
};

class ProgbarLoggerCallback final : public Callback {
 public:
  bool shows_progress() const override { return true; }

  void on_train_begin(Training&) override { in_training_ = true; }
  void on_train_end(Training&, const Logs&) override { in_training_ = false; }
  void on_epoch_begin(Training& training, int64_t epoch) override {
    if (training.verbose != 0) std::cout << "Epoch " << epoch + 1 << '/' << training.epochs << '\n';
    begin(training);
  }
  void on_train_batch_end(Training&, int64_t step, const Logs& logs) override { show(step, logs); }
  void on_epoch_end(Training&, int64_t, Logs& logs) override { bar_->update(steps_, logs, true); }

  void on_test_begin(Training& training) override {
    if (!in_training_) begin(training);
  }
  void on_test_batch_end(Training&, int64_t step, const Logs& logs) override {
    if (!in_training_) show(step, logs);
  }
  void on_test_end(Training&, const Logs& logs) override {
    if (!in_training_) bar_->update(steps_, logs, true);
  }

 private:
  void begin(const Training& training) {
    steps_ = 0;
    bar_.emplace(std::cout,
                 ProgressBar::Options{.target = training.steps, .verbose = training.verbose});
  }
  void show(int64_t step, const Logs& logs) {
    steps_ = step + 1;
    if (bar_->due()) bar_->update(steps_, logs);
  }

  std::optional<ProgressBar> bar_;
  int64_t steps_ = 0;
  bool in_training_ = false;
};

class FunctionsCallback final : public Callback {
 public:
  explicit FunctionsCallback(LambdaCallbackOptions options) : options_(std::move(options)) {}
  bool reads_batch_logs() const override {
    return options_.on_train_batch_end != nullptr || options_.on_test_batch_end != nullptr;
  }
  void on_train_begin(Training& t) override {
    if (options_.on_train_begin) options_.on_train_begin(t);
  }
  void on_train_end(Training& t, const Logs& logs) override {
    if (options_.on_train_end) options_.on_train_end(t, logs);
  }
  void on_epoch_begin(Training& t, int64_t epoch) override {
    if (options_.on_epoch_begin) options_.on_epoch_begin(t, epoch);
  }
  void on_epoch_end(Training& t, int64_t epoch, Logs& logs) override {
    if (options_.on_epoch_end) options_.on_epoch_end(t, epoch, logs);
  }
  void on_train_batch_begin(Training& t, int64_t step) override {
    if (options_.on_train_batch_begin) options_.on_train_batch_begin(t, step);
  }
  void on_train_batch_end(Training& t, int64_t step, const Logs& logs) override {
    if (options_.on_train_batch_end) options_.on_train_batch_end(t, step, logs);
  }
  void on_test_begin(Training& t) override {
    if (options_.on_test_begin) options_.on_test_begin(t);
  }
  void on_test_end(Training& t, const Logs& logs) override {
    if (options_.on_test_end) options_.on_test_end(t, logs);
  }
  void on_test_batch_begin(Training& t, int64_t step) override {
    if (options_.on_test_batch_begin) options_.on_test_batch_begin(t, step);
  }
  void on_test_batch_end(Training& t, int64_t step, const Logs& logs) override {
    if (options_.on_test_batch_end) options_.on_test_batch_end(t, step, logs);
  }
  void on_predict_begin(Prediction& p) override {
    if (options_.on_predict_begin) options_.on_predict_begin(p);
  }
  void on_predict_end(Prediction& p) override {
    if (options_.on_predict_end) options_.on_predict_end(p);
  }
  void on_predict_batch_begin(Prediction& p, int64_t step) override {
    if (options_.on_predict_batch_begin) options_.on_predict_batch_begin(p, step);
  }
  void on_predict_batch_end(Prediction& p, int64_t step, const Tree<Tensor>& outputs) override {
    if (options_.on_predict_batch_end) options_.on_predict_batch_end(p, step, outputs);
  }

 private:
  LambdaCallbackOptions options_;
};

}  // namespace

CallbackPtr CSVLogger(CSVLoggerOptions options) {
  return std::make_shared<CSVLoggerCallback>(std::move(options));
}

CallbackPtr ProgbarLogger() { return std::make_shared<ProgbarLoggerCallback>(); }

CallbackPtr LambdaCallback(LambdaCallbackOptions options) {
  return std::make_shared<FunctionsCallback>(std::move(options));
}

}  // namespace keratin

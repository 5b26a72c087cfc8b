#pragma once

#include "keratin/base/export.h"
#include "keratin/train/trainer.h"

namespace keratin {

// A training run as callbacks see it.
struct Training {
  Trainer& trainer;
  int64_t epochs = 1;
  std::optional<int64_t> steps = {};  // per epoch, where known
  int verbose = 0;
  int64_t epoch = 0;  // now, from 0
  int64_t step = 0;   // of the epoch; before training begins, the one to begin with
  uint64_t shuffle_seed = 0;
  bool stop_training = false;
  bool stop_evaluating = false;
  std::map<std::string, std::vector<double>>* history = nullptr;

  const LayerPtr& model() const { return trainer.model(); }
  OptimizerState& optimizer() const { return trainer.optimizer(); }
};

// A run of `predict` as callbacks see it. The model need not be compiled.
struct Prediction {
  const LayerPtr& model;
  std::optional<int64_t> steps = {};  // where known
  bool stop_predicting = false;
};

// Called while a model trains, is evaluated or predicts. on_epoch_end may add to the logs; later
// callbacks see that.
class KERATIN_API Callback {
 public:
  virtual ~Callback() = default;

  virtual void on_train_begin(Training&) {}
  virtual void on_train_end(Training&, const Logs&) {}
  virtual void on_epoch_begin(Training&, int64_t epoch) { (void)epoch; }
  virtual void on_epoch_end(Training&, int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_train_batch_begin(Training&, int64_t step) { (void)step; }
  virtual void on_train_batch_end(Training&, int64_t step, const Logs& logs) {
    (void)step, (void)logs;
  }
  virtual void on_test_begin(Training&) {}
  virtual void on_test_end(Training&, const Logs&) {}
  virtual void on_test_batch_begin(Training&, int64_t step) { (void)step; }
  virtual void on_test_batch_end(Training&, int64_t step, const Logs& logs) {
    (void)step, (void)logs;
  }
  virtual void on_predict_begin(Prediction&) {}
  virtual void on_predict_end(Prediction&) {}
  virtual void on_predict_batch_begin(Prediction&, int64_t step) { (void)step; }
  virtual void on_predict_batch_end(Prediction&, int64_t step, const Tree<Tensor>& outputs) {
    (void)step, (void)outputs;
  }
  // Whether it reads the logs of batches, which costs a little time in each step.
  virtual bool reads_batch_logs() const { return true; }
  // Whether it shows the progress, so that `fit` does not.
  virtual bool shows_progress() const { return false; }
};

// What happened in each epoch: `fit` returns it. It may also be passed as a callback,
// std::make_shared<History>(), and be read while the model trains.
struct KERATIN_API History final : Callback {
  std::vector<int64_t> epoch = {};
  std::map<std::string, std::vector<double>> history = {};
  bool interrupted = false;  // by Ctrl-C

  const std::vector<double>& operator[](const std::string& name) const;

  void on_train_begin(Training&) override { epoch.clear(); }
  void on_epoch_end(Training&, int64_t number, Logs& logs) override;
  bool reads_batch_logs() const override { return false; }
};

}  // namespace keratin

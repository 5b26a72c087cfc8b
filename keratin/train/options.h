#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/data/data.h"
#include "keratin/engine/compile.h"
#include "keratin/losses/losses.h"
#include "keratin/metrics/metrics.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/train/per_output.h"

namespace keratin {

// Compiled once, in trainer.cpp.
extern template class PerOutput<double>;
extern template class PerOutput<Loss>;
extern template class PerOutput<std::vector<Metric>>;

// The metrics of a model: a list for its only output (or one for each of several), or a list by
// each output's name.
class KERATIN_API Metrics {
 public:
  using List = std::vector<Metric>;

  Metrics() = default;
  Metrics(std::initializer_list<Metric> list) : flat_(list) {}                  // NOLINT
  Metrics(List list) : flat_(std::move(list)) {}                                // NOLINT
  Metrics(std::map<std::string, List> by_name) : lists_(std::move(by_name)) {}  // NOLINT
  // A list for each output.
  static Metrics each(std::vector<List> lists) {
    Metrics metrics;
    metrics.lists_ = PerOutput<List>(std::move(lists));
    return metrics;
  }

  const List& flat() const { return flat_; }
  const PerOutput<List>& lists() const { return lists_; }
  // The same metrics with variables of their own.
  Metrics fresh_copy() const;
  std::vector<List> resolve(const std::vector<std::string>& outputs,
                            std::string_view argument) const;

 private:
  List flat_;
  PerOutput<List> lists_;
};

class ModelSteps;

// model.compile({.optimizer = Adam({.learning_rate = 1e-3}), .loss = "mse", .metrics = {"mae"}})
struct KERATIN_API CompileOptions {
  Optimizer optimizer = "rmsprop";
  PerOutput<Loss> loss = {};
  PerOutput<double> loss_weights = {};
  Metrics metrics = {};           // all samples count the same
  Metrics weighted_metrics = {};  // by the samples' weights
  int64_t steps_per_execution = 1;
  bool auto_scale_loss = true;  // with LossScaleOptimizer, where layers compute in mixed_float16
  EngineOptions engine = {};
  // Steps of your own, see trainer.h; by default, Keras's. Files do not have them.
  std::shared_ptr<ModelSteps> steps = {};

  // For another model: the same losses and steps, and a new optimizer and new metrics with the same
  // configs.
  CompileOptions fresh_copy() const;
};

// The values that training reports: "loss", "accuracy", "val_loss", …
using Logs = std::map<std::string, double>;

class Callback;
using CallbackPtr = std::shared_ptr<Callback>;

struct FitOptions {
  int64_t batch_size = 32;
  int64_t epochs = 1;
  int verbose = 1;  // 0 silent, 1 a progress bar, 2 a line per epoch
  std::vector<CallbackPtr> callbacks = {};
  double validation_split = 0;  // the last part of the samples, before they are shuffled
  std::optional<Data> validation_data = {};
  bool shuffle = true;
  std::map<int64_t, double> class_weight = {};
  Tree<Tensor> sample_weight = {};
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch = {};
  std::optional<int64_t> validation_steps = {};
  std::optional<int64_t> validation_batch_size = {};
  int64_t validation_freq = 1;
};

struct EvaluateOptions {
  int64_t batch_size = 32;
  int verbose = 1;
  Tree<Tensor> sample_weight = {};
  std::optional<int64_t> steps = {};
  std::vector<CallbackPtr> callbacks = {};
};

struct BatchOptions {
  Tree<Tensor> sample_weight = {};
  std::map<int64_t, double> class_weight = {};
};

}  // namespace keratin

#pragma once

#include <functional>
#include <unordered_map>

#include "keratin/base/cache_limits.h"
#include "keratin/base/export.h"
#include "keratin/graph/layer.h"
#include "keratin/train/options.h"

namespace keratin {

class Trainer;

// A batch, as values of the program of a step. What was not given is none.
struct StepBatch {
  Tree<Value> x;
  Tree<Value> y = {};
  Tree<Value> sample_weight = {};
};

// The numbers that a step reports, by name: scalars.
using ValueLogs = std::map<std::string, Value>;

// Writes a step over one batch as a program. A step of your own is made of ops on values, and of
// the functions here: they do what Keras's own steps do.
class KERATIN_API StepBuilder {
 public:
  const StepBatch& batch() const { return batch_; }
  int64_t samples() const { return samples_; }  // of the batch
  bool training() const;
  const LayerPtr& model() const;
  Tracer& tracer() const { return *tracer_; }

  // Calls the model, or another layer, in this step's mode or in another.
  Tree<Traced> call_model(const Tree<Value>& x, std::optional<bool> training = {});
  Tree<Traced> call(const LayerPtr& layer, const Tree<Value>& input,
                    std::optional<bool> training = {});
  Tree<Traced> call(const LayerPtr& layer, const Tree<Traced>& input,
                    std::optional<bool> training = {});

  // The losses that layers added in their last calls, and the penalties of the model's
  // regularizers: Keras's `model.losses`.
  Values losses() const;
  // The sum of these and of the losses of `compile`: what `compute_loss` returns by default.
  Value compiled_loss(const StepBatch& batch, const Tree<Traced>& y_pred);
  // Adds the loss of this batch to the mean that is reported as "loss".
  void track_loss(Value loss);
  // Updates the metrics of `compile`; returns these, the losses and all metrics that were tracked:
  // what `compute_metrics` returns by default.
  ValueLogs compiled_metrics(const StepBatch& batch, const Tree<Traced>& y_pred);
  // Updates a metric of your own, and returns its result. The model resets it with its others.
  Value track(const Metric& metric, const Sample& sample);
  Value track(const Metric& metric, Value value) { return track(metric, Sample{{}, value}); }

  // d(loss)/d(each variable), for a scalar loss; undefined for a variable on which it does not
  // depend. Take the gradients before variables are assigned: they belong to the calls before.
  // For gradients by other values, such as inputs, see `keratin::gradients`.
  Values gradients(Value loss, const std::vector<Variable>& variables);
  // One step of an optimizer. It always trains the same variables.
  void apply(const Optimizer& optimizer, const Values& gradients,
             const std::vector<Variable>& variables);
  // Scales the loss if the optimizer does that, and applies its gradients: by default, with the
  // optimizer of `compile`, for all trainable weights of the model.
  void minimize(Value loss);
  void minimize(Value loss, const Optimizer& optimizer, const std::vector<Variable>& variables);

  // State of your own: variables that the step reads and assigns, such as sums over batches.
  Value read(const Variable& variable) const;
  void assign(const Variable& variable, Value value);
  // What `write` assigns is kept only if the condition, a bool scalar, is true.
  void only_if(Value condition, const std::function<void()>& write);
  // A key for `words` random words, see ops/random.h. Each step has new ones.
  Value random_key(int64_t words);

 private:
  friend class Trainer;
  StepBuilder(Trainer& trainer, Tracer& tracer, StepBatch batch, int64_t samples);
  const Values& values_of(const Variable& variable);
  void read_again(const std::vector<Variable>& variables);

  Trainer* trainer_;
  Tracer* tracer_;
  StepBatch batch_;
  int64_t samples_;
  std::vector<std::pair<const Layer*, Values>> losses_;  // of the last call of each layer
  // Of variables by shard, as the calls so far have read them: gradients are by these.
  std::unordered_map<Variable, Values, VariableHash> values_;
  std::vector<std::shared_ptr<MetricState>> tracked_;
};

// The steps of a model: Keras's, unless you override them. An object of a class derived from this
// is passed to `compile`. Each function is called once for each shape of batch, and writes the
// program that then runs for every such batch.
class KERATIN_API ModelSteps {
 public:
  virtual ~ModelSteps() = default;
  // Each returns the logs of the step.
  virtual ValueLogs train_step(StepBuilder& step);
  virtual ValueLogs test_step(StepBuilder& step);
  // What `predict` returns for the batch's x.
  virtual Tree<Traced> predict_step(StepBuilder& step);
  // The scalar loss that `train_step` minimizes and `test_step` reports.
  virtual Value compute_loss(StepBuilder& step, const StepBatch& batch, const Tree<Traced>& y_pred);
  virtual ValueLogs compute_metrics(StepBuilder& step, const StepBatch& batch,
                                    const Tree<Traced>& y_pred);
};

// A model with its losses, optimizer and metrics. A step over one batch is one program: forward,
// losses, backward, clipping, optimizer, metrics. A program is compiled for each shape of batch.
class KERATIN_API Trainer {
 public:
  Trainer(LayerPtr model, Dialect dialect, CompileOptions options);
  ~Trainer();

  const LayerPtr& model() const { return model_; }
  OptimizerState& optimizer() const { return *options_.optimizer; }
  const CompileOptions& options() const { return options_; }

  // One step. `logs` has the metrics after it.
  void train(const Batch& batch);
  void test(const Batch& batch);
  // Trains on a batch several times, and measures each step of the plan.
  std::vector<Executable::StepTime> profile(const Batch& batch, int runs = 10);
  // The program that trains on such a batch; compiled unless it is in the cache.
  Executable program(const Batch& batch);
  Logs logs() const;
  void reset_metrics();
  // Sets weights to the averages of optimizers that keep some; called at the end of fit.
  void finalize();
  // The results of all metrics now, by their names in the logs.
  Logs metrics_result() const;
  // "loss", then "compile_metrics" if `compile` got metrics, then those of several losses, then
  // your steps' own: Keras's `metrics_names`.
  std::vector<std::string> metrics_names() const;
  // The variables of all metrics, in that order.
  std::vector<Variable> metrics_variables() const;
  std::vector<Variable> loss_variables() const;  // those of several losses
  // Writes what `predict` computes for a batch.
  Tree<Traced> write_predict(Tracer& tracer, const Tree<Value>& x);

  // All that a step changes: weights and seeds of the model, optimizer, metrics. Complete after the
  // first step, or after `build` with a batch.
  std::vector<Variable> state() const;
  void build(const Batch& batch);
  // Limits of the cache of compiled steps, which evicts those that were not used for longest.
  void set_program_limits(CacheLimits limits);
  // Whether lower values of a metric are better; nothing where that is not known.
  std::optional<bool> lower_is_better(const std::string& name) const;

 private:
  struct OutputLoss {
    size_t output;
    Loss loss;
    double weight;
    std::shared_ptr<MetricState> tracker;  // if there are several losses
  };
  struct OutputMetric {
    size_t output;
    std::shared_ptr<MetricState> state;
    bool weighted;
    std::string name;
    bool built = false;
  };
  friend class StepBuilder;
  struct Step;
  // All that a step depends on, except the model and the options.
  struct StepKey {
    bool training = false;
    uint64_t moves = 0;          // of variables: a step holds their memory
    std::string structure = {};  // of the batch
    std::vector<DType> dtypes = {};
    Shapes shapes = {};
    std::vector<int64_t> sizes = {};  // that depend on strings

    static constexpr auto fields =
        field_list(field("training", &StepKey::training), field("moves", &StepKey::moves),
                   field("structure", &StepKey::structure), field("dtypes", &StepKey::dtypes),
                   field("shapes", &StepKey::shapes), field("sizes", &StepKey::sizes));
  };

  StepKey key_of(const Batch& batch, bool training) const;
  std::vector<int64_t> sizes_of(const std::string& structure, const Batch& batch) const;
  void resolve(const Tree<Traced>& outputs);
  std::unique_ptr<Step> trace(const Batch& batch, bool training);
  Step& find(const Batch& batch, bool training);
  // The step for a batch, with the batch's tensors as its inputs.
  Step& step_for(const Batch& batch, bool training);
  void run(const Batch& batch, bool training);
  // Targets or weights in the order of the outputs; nothing for an output without one.
  std::vector<std::optional<Value>> per_output(const Tree<Value>& given,
                                               std::string_view what) const;
  Value total_loss(StepBuilder& step, const StepBatch& batch, const Tree<Traced>& y_pred);
  void update_metrics(StepBuilder& step, const StepBatch& batch, const Tree<Traced>& y_pred);
  // Makes a metric or an optimizer of the user's steps a part of the state.
  void keep(const std::shared_ptr<MetricState>& metric);
  void keep(const Optimizer& optimizer);
  // The outputs, once for each name: an error if these are others than before.
  std::vector<Traced> outputs_of(const Tree<Traced>& y_pred) const;
  // All metrics that exist, in Keras's order, with their names in the logs.
  std::vector<std::pair<std::string, MetricState*>> all_metrics() const;
  const Variable& seed();
  void find_own_state(const std::vector<Variable>& used);

  LayerPtr model_;
  Dialect dialect_;
  CompileOptions options_;
  bool resolved_ = false;
  Tree<size_t> output_structure_;
  std::vector<std::string> output_names_;
  std::shared_ptr<MetricState> loss_tracker_;
  std::vector<OutputLoss> losses_;
  std::vector<OutputMetric> metrics_;
  // Of the steps of the user: metrics, optimizers, the seed, and other variables that they use.
  std::vector<std::shared_ptr<MetricState>> own_metrics_;
  std::vector<Optimizer> own_optimizers_;
  Variable seed_;
  std::vector<Variable> own_state_;
  struct Steps;
  std::unique_ptr<Steps> steps_;  // those that were compiled
  std::shared_ptr<Step> last_;
};

}  // namespace keratin

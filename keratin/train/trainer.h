#pragma once

#include "keratin/base/cache_limits.h"
#include "keratin/base/export.h"
#include "keratin/graph/layer.h"
#include "keratin/train/options.h"

namespace keratin {

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
  struct Step;
  // All that a step depends on, except the model and the options.
  struct StepKey {
    bool training = false;
    uint64_t moves = 0;          // of variables: a step holds their memory
    std::string structure = {};  // of the batch
    std::vector<DType> dtypes = {};
    Shapes shapes = {};

    static constexpr auto fields =
        field_list(field("training", &StepKey::training), field("moves", &StepKey::moves),
                   field("structure", &StepKey::structure), field("dtypes", &StepKey::dtypes),
                   field("shapes", &StepKey::shapes));
  };

  static StepKey key_of(const Batch& batch, bool training);
  void resolve(const Tree<Traced>& outputs);
  std::unique_ptr<Step> trace(const Batch& batch, bool training);
  Step& find(const Batch& batch, bool training);
  // The step for a batch, with the batch's tensors as its inputs.
  Step& step_for(const Batch& batch, bool training);
  void run(const Batch& batch, bool training);
  // Targets or weights in the order of the outputs; nothing for an output without one.
  std::vector<std::optional<Value>> per_output(const Tree<Value>& given,
                                               std::string_view what) const;
  Value total_loss(Tracer& tracer, const std::vector<Traced>& outputs,
                   const std::vector<std::optional<Value>>& targets,
                   const std::vector<std::optional<Value>>& weights, int64_t samples);

  LayerPtr model_;
  Dialect dialect_;
  CompileOptions options_;
  bool resolved_ = false;
  Tree<size_t> output_structure_;
  std::vector<std::string> output_names_;
  std::shared_ptr<MetricState> loss_tracker_;
  std::vector<OutputLoss> losses_;
  std::vector<OutputMetric> metrics_;
  struct Steps;
  std::unique_ptr<Steps> steps_;  // those that were compiled
  std::shared_ptr<Step> last_;
};

}  // namespace keratin

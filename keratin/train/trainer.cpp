#include "keratin/train/trainer.h"

#include <algorithm>
#include <set>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/lru_cache.h"
#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/saved_form.h"
#include "keratin/graph/sequential.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/tensor/resident_copy.h"
#include "keratin/train/callback.h"
#include "keratin/train/variable_gradients.h"

namespace keratin {
namespace {

// The mean of a loss over batches, weighted by their numbers of samples.
class LossTracker final : public MeanState {
 public:
  explicit LossTracker(std::string name) : MeanState("Mean", {.name = std::move(name)}) {}
  std::string_view class_name() const override { return "Mean"; }
  std::shared_ptr<MetricState> fresh_copy() const override {
    return std::make_shared<LossTracker>(name());
  }
  bool lower_is_better() const override { return true; }
  void update(Tracer& tracer, const Sample& sample) override {
    add_values(tracer, sample.y_pred, sample.weight);
  }
};

void track(MetricState& tracker, Tracer& tracer, Value loss, int64_t samples) {
  tracker.update(tracer, {.y_true = {},
                          .y_pred = loss,
                          .weight = ops::scalar_like(loss, static_cast<double>(samples))});
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "'" : ", '") + name + "'";
  return '[' + out + ']';
}

const FunctionalLayer* graph_of(const Layer& model) {
  if (const auto* runs = dynamic_cast<const RunsAnotherModel*>(&model))
    return graph_of(runs->other_model());
  if (const auto* sequential = dynamic_cast<const SequentialLayer*>(&model))
    return sequential->functional();
  return dynamic_cast<const FunctionalLayer*>(&model);
}

// Keras's names of a model's outputs: a dict's keys, or the layers that made them.
std::vector<std::string> names_of(const Layer& model, const Tree<Traced>& outputs) {
  std::vector<std::string> names;
  if (outputs.is_dict() && outputs.leaf_count() == outputs.dict().size()) {
    for (const auto& item : outputs.dict()) names.push_back(item.first);
    return names;
  }
  if (const FunctionalLayer* graph = graph_of(model)) {
    for (const SymbolicTensor& t : graph->outputs()) names.push_back(t.layer()->name());
    return names;
  }
  for (size_t i = 1; i <= outputs.leaf_count(); ++i) names.push_back(text("output_", i));
  return names;
}

bool computes_in_half(const Layer& layer) {
  if (layer.dtype_policy().name() == "mixed_float16") return true;
  const auto sublayers = layer.sublayers();
  return std::any_of(sublayers.begin(), sublayers.end(),
                     [](const Layer::Sublayer& sub) { return computes_in_half(*sub.layer); });
}

}  // namespace

template class PerOutput<double>;
template class PerOutput<Loss>;
template class PerOutput<std::vector<Metric>>;

Metrics Metrics::fresh_copy() const {
  const auto copied = [](List list) {
    for (Metric& metric : list) metric = metric.fresh_copy();
    return list;
  };
  Metrics copy;
  copy.flat_ = copied(flat_);
  copy.lists_ = lists_.map(copied);
  return copy;
}

CompileOptions CompileOptions::fresh_copy() const {
  CompileOptions copy = *this;
  copy.optimizer = optimizer.fresh_copy();
  copy.metrics = metrics.fresh_copy();
  copy.weighted_metrics = weighted_metrics.fresh_copy();
  return copy;
}

std::vector<Metrics::List> Metrics::resolve(const std::vector<std::string>& outputs,
                                            std::string_view argument) const {
  std::vector<List> lists(outputs.size());
  const auto given = lists_.resolve(outputs, argument);
  for (size_t i = 0; i < lists.size(); ++i)
    if (given[i]) lists[i] = *given[i];
  if (flat_.empty()) return lists;
  if (outputs.size() == 1) return {flat_};
  require(flat_.size() == outputs.size(), "Invalid `", argument, "`: the model has ",
          outputs.size(), " outputs, ", listed(outputs), ", and a list of metrics needs one for ",
          "each of them; got ", flat_.size());
  for (size_t i = 0; i < lists.size(); ++i) lists[i] = {flat_[i]};
  return lists;
}

// A compiled step, its inputs and its results.
struct Trainer::Step {
  StepKey key;
  std::optional<Executable> executable;
  std::vector<Tensor> inputs;  // the batch's, then the variables'
  std::vector<Tensor> results;
  std::vector<std::string> names;
};

struct Trainer::Steps {
  struct Memory {
    static size_t bytes(const Step& step) { return step.executable->memory_bytes(); }
    static void shrink(const Step& step) { step.executable->release_memory(); }
  };
  detail::LruCache<StepKey, Step, Memory> known;
};

Trainer::StepKey Trainer::key_of(const Batch& batch, bool training) {
  static_assert(detail::lists_every_member<StepKey>());
  StepKey key{.training = training, .moves = Variable::moves()};
  for (const Tree<Tensor>* tree : {&batch.x, &batch.y, &batch.sample_weight})
    key.structure += tree->is_leaf() ? "*" : tree->outline();
  batch.each([&](const Tensor& t) {
    key.dtypes.push_back(t.dtype());
    key.shapes.push_back(t.shape());
  });
  return key;
}

Trainer::Trainer(LayerPtr model, Dialect dialect, CompileOptions options)
    : model_(std::move(model)),
      dialect_(dialect),
      options_(std::move(options)),
      loss_tracker_(std::make_shared<LossTracker>("loss")),
      steps_(std::make_unique<Steps>()) {
  require(options_.steps_per_execution >= 1,
          "compile: `steps_per_execution` must be at least 1, got ", options_.steps_per_execution);
  if (options_.auto_scale_loss && computes_in_half(*model_))
    options_.optimizer = detail::with_scaled_loss(options_.optimizer);
}

// Assigns losses and metrics to outputs, once these are known.
void Trainer::resolve(const Tree<Traced>& outputs) {
  if (resolved_) return;
  size_t next = 0;
  output_structure_ = outputs.map<size_t>([&](const Traced&) { return next++; });
  output_names_ = names_of(*model_, outputs);
  const auto losses = options_.loss.resolve(output_names_, "loss");
  const auto weights = options_.loss_weights.resolve(output_names_, "loss_weights");
  for (size_t i = 0; i < losses.size(); ++i)
    if (losses[i] && *losses[i])
      losses_.push_back({i, *losses[i], weights[i].value_or(1), nullptr});
  if (losses_.size() > 1)
    for (OutputLoss& l : losses_)
      l.tracker = std::make_shared<LossTracker>(output_names_[l.output] + "_loss");

  std::set<std::string> used = {"loss"};
  const auto add = [&](const Metrics& metrics, std::string_view argument, bool weighted) {
    const auto lists = metrics.resolve(output_names_, argument);
    for (size_t i = 0; i < lists.size(); ++i)
      for (const Metric& metric : lists[i]) {
        const std::string prefix = lists.size() > 1 ? output_names_[i] + '_' : "";
        std::string name = prefix + metric.name();
        if (weighted && used.contains(name)) name = prefix + "weighted_" + metric.name();
        const std::string base = name;
        for (int n = 1; used.contains(name); ++n) name = text(base, '_', n);
        used.insert(name);
        metrics_.push_back({i, metric.ptr(), weighted, name});
      }
  };
  add(options_.metrics, "metrics", false);
  add(options_.weighted_metrics, "weighted_metrics", true);
  resolved_ = true;
}

std::vector<std::optional<Value>> Trainer::per_output(const Tree<Value>& given,
                                                      std::string_view what) const {
  const size_t count = output_names_.size();
  std::vector<std::optional<Value>> out(count);
  if (given.is_none()) return out;
  if (given.is_leaf()) {
    // One target belongs to the only output, or to the only one with a loss; one weight to all.
    if (what == "sample_weight") return std::vector<std::optional<Value>>(count, given.leaf());
    if (count == 1 || losses_.size() == 1) {
      out[count == 1 ? 0 : losses_[0].output] = given.leaf();
      return out;
    }
  }
  if (given.is_dict() && !output_structure_.is_dict()) {
    for (const auto& [name, item] : given.dict()) {
      const auto found = std::find(output_names_.begin(), output_names_.end(), name);
      require(found != output_names_.end(), "`", what, "`: '", name,
              "' is no output of the model; its outputs are ", listed(output_names_));
      out[static_cast<size_t>(found - output_names_.begin())] = item.leaf();
    }
    return out;
  }
  if (given.same_structure(output_structure_) || given.leaf_count() == count) {
    const Values flat = given.flat();
    if (flat.size() == count) {
      for (size_t i = 0; i < count; ++i) out[i] = flat[i];
      return out;
    }
  }
  if (given.is_list() && given.leaf_count() == losses_.size()) {
    const Values flat = given.flat();
    for (size_t i = 0; i < flat.size(); ++i) out[losses_[i].output] = flat[i];
    return out;
  }
  fail(what == "y" ? "y_true and y_pred have different structures.\ny_true: "
                   : "`sample_weight` and y_pred have different structures.\nsample_weight: ",
       given.outline(), "\ny_pred: ", output_structure_.outline());
}

Value Trainer::total_loss(Tracer& tracer, const std::vector<Traced>& outputs,
                          const std::vector<std::optional<Value>>& targets,
                          const std::vector<std::optional<Value>>& weights, int64_t samples) {
  Value total;
  const auto add = [&](Value loss) {
    if (loss.dtype() != DType::f32) loss = ops::cast(loss, DType::f32);
    total = total.defined() ? total + loss : loss;
  };
  for (const OutputLoss& l : losses_) {
    require(targets[l.output].has_value(), "the output '", output_names_[l.output],
            "' has the loss '", l.loss.name(), "', but no target `y` was given for it");
    Value loss = l.loss(
        *targets[l.output], outputs[l.output].value,
        {.sample_weight = weights[l.output], .mask = outputs[l.output].mask, .dialect = dialect_});
    if (loss.rank() > 0) loss = ops::sum(loss);
    if (loss.dtype() != DType::f32) loss = ops::cast(loss, DType::f32);
    if (l.tracker) track(*l.tracker, tracer, loss, samples);
    add(l.weight == 1 ? loss : loss * l.weight);
  }
  for (const Value loss : tracer.losses()) add(loss.rank() > 0 ? ops::sum(loss) : loss);
  for (const Variable& v : model_->trainable_weights())
    if (const Regularizer& regularizer = v.spec().regularizer; regularizer)
      add(regularizer(tracer.read(v)));
  require(total.defined(), "No loss to compute. Provide a `loss` argument in `compile()`.");
  return total;
}

std::unique_ptr<Trainer::Step> Trainer::trace(const Batch& batch, bool training) {
  require(batch.size() > 0, "model '", model_->name(), "': the batch is empty");
  auto step = std::make_unique<Step>();

  Shapes shapes;
  batch.x.each([&](const Tensor& t) {
    Dims dims = t.shape().dims();
    if (!dims.empty()) dims[0] = unknown;
    shapes.emplace_back(dims);
  });
  model_->ensure_built(shapes);

  Module module;
  Tracer tracer(module, training, dialect_);
  const auto input = [&](const Tensor& t, const std::string& name) {
    step->inputs.push_back(t);
    return module.input({t.dtype(), t.shape()}, name);
  };
  const auto declare = [&](const Tree<Tensor>& tree, const char* kind) {
    size_t i = 0;
    return tree.map<Value>([&](const Tensor& t) { return input(t, text(kind, i++)); });
  };
  // In the order of the batch, before any state.
  const Tree<Value> x = declare(batch.x, "x"), y = declare(batch.y, "y"),
                    sample_weight = declare(batch.sample_weight, "sample_weight");
  // Weights are read before the model is called: gradients are with respect to these values.
  const std::vector<Variable> trained =
      training ? model_->trainable_weights() : std::vector<Variable>{};
  if (training) options_.optimizer->build(trained);
  const Values wrt = read_all_shards(trained, tracer);

  const Tree<Traced> predictions =
      tracer.invoke(*model_, {{x.map<Traced>([](Value v) { return Traced{v}; })}, {}});
  resolve(predictions);
  const std::vector<Traced> outputs = predictions.flat();

  const auto targets = per_output(y, "y");
  const auto weights = per_output(sample_weight, "sample_weight");

  const int64_t samples = batch.size();
  const Value loss = total_loss(tracer, outputs, targets, weights, samples);
  track(*loss_tracker_, tracer, loss, samples);
  if (training && !trained.empty()) {
    const Value scaled = options_.optimizer->scale_loss(tracer, loss);
    const Values found =
        detail::pull_back(module.block(), {scaled}, {ops::full_like(scaled, 1)}, wrt);
    options_.optimizer->apply(tracer, join_gradients(trained, found, tracer));
  }
  for (OutputMetric& m : metrics_) {
    require(targets[m.output].has_value(), "the output '", output_names_[m.output],
            "' has the metric '", m.state->name(), "', but no target `y` was given for it");
    const Value y_true = *targets[m.output], y_pred = outputs[m.output].value;
    if (!m.built) m.state->build(y_true.shape(), y_pred.shape());
    m.built = true;
    m.state->update(tracer, {.y_true = y_true,
                             .y_pred = y_pred,
                             .weight = m.weighted ? weights[m.output] : std::nullopt,
                             .mask = outputs[m.output].mask,
                             .dialect = dialect_});
  }
  const auto report = [&](MetricState& metric, const std::string& name) {
    Value result = metric.result(tracer);
    if (result.rank() > 0) result = ops::mean(result);
    module.output(result);
    step->names.push_back(name);
    step->results.push_back(Tensor::zeros(result.dtype(), {}));
  };
  report(*loss_tracker_, "loss");
  for (const OutputLoss& l : losses_)
    if (l.tracker) report(*l.tracker, l.tracker->name());
  for (const OutputMetric& m : metrics_) report(*m.state, m.name);
  tracer.finish();
  for (const Variable& v : tracer.variables()) step->inputs.push_back(v.value());
  EngineOptions engine = options_.engine;
  engine.state_stays = true;  // all state belongs to variables
  step->executable.emplace(compile(std::move(module), engine));
  return step;
}

Trainer::~Trainer() = default;

Trainer::Step& Trainer::find(const Batch& batch, bool training) {
  StepKey key = key_of(batch, training);
  if (last_ != nullptr && detail::equal_fields(last_->key, key)) return *last_;
  if (auto known = steps_->known.find(key)) return *(last_ = std::move(known));
  std::shared_ptr<Step> step = trace(batch, training);
  // The first call builds layers and makes the optimizer's variables.
  key.moves = Variable::moves();
  step->key = key;
  steps_->known.erase_if([&](const Step& old) { return old.key.moves != key.moves; });
  steps_->known.insert(std::move(key), step);
  return *(last_ = std::move(step));
}

void Trainer::set_program_limits(CacheLimits limits) { steps_->known.set_limits(limits); }

Trainer::Step& Trainer::step_for(const Batch& batch, bool training) {
  Step& step = find(batch, training);
  size_t i = 0;
  batch.each([&](const Tensor& t) { step.inputs[i++] = t; });
  return step;
}

void Trainer::run(const Batch& batch, bool training) {
  Step& step = step_for(batch, training);
  step.executable->run(step.inputs, step.results);
}

std::vector<Executable::StepTime> Trainer::profile(const Batch& batch, int runs) {
  Step& step = step_for(batch, true);
  return step.executable->profile(step.inputs, step.results, runs);
}

Executable Trainer::program(const Batch& batch) { return *find(batch, true).executable; }

void Trainer::train(const Batch& batch) { run(batch, true); }
void Trainer::test(const Batch& batch) { run(batch, false); }
void Trainer::build(const Batch& batch) { find(batch, true); }

Logs Trainer::logs() const {
  Logs logs;
  if (last_ != nullptr)
    for (size_t i = 0; i < last_->names.size(); ++i) {
      copy_to_host(last_->results[i].raw());  // a GPU may still be at work
      logs[last_->names[i]] = last_->results[i].at(0);
    }
  return logs;
}

void Trainer::reset_metrics() {
  loss_tracker_->reset();
  for (const OutputLoss& l : losses_)
    if (l.tracker) l.tracker->reset();
  for (const OutputMetric& m : metrics_) m.state->reset();
}

std::vector<Variable> Trainer::state() const {
  std::vector<Variable> all = model_->variables();
  const auto add = [&](const std::vector<Variable>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(options_.optimizer->variables());
  add(loss_tracker_->variables());
  for (const OutputLoss& l : losses_)
    if (l.tracker) add(l.tracker->variables());
  for (const OutputMetric& m : metrics_) add(m.state->variables());
  return all;
}

std::optional<bool> Trainer::lower_is_better(const std::string& name) const {
  if (name == "loss") return true;
  for (const OutputLoss& l : losses_)
    if (l.tracker && l.tracker->name() == name) return true;
  for (const OutputMetric& m : metrics_)
    if (m.name == name) return m.state->lower_is_better();
  return std::nullopt;
}

}  // namespace keratin

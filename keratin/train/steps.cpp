// Steps over batches as users write them: what `StepBuilder` offers, and Keras's own steps.
#include <algorithm>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/train/trainer.h"
#include "keratin/train/variable_gradients.h"

namespace keratin {
namespace {

Tree<Traced> without_masks(const Tree<Value>& values) {
  return values.map<Traced>([](Value v) { return Traced{v}; });
}

// As in Keras, gradients do not flow through assignments: a generator is not trained through the
// step that its discriminator made. The variables to keep are those of calls that may still be
// differentiated.
void cut_gradients(Tracer& tracer, const std::vector<Variable>& keep) {
  for (const Variable& variable : tracer.changed()) {
    const Value now = tracer.read(variable);
    const bool is_cut = &now.node().op() == &ops::stop_gradient_op;
    if (!is_cut && std::find(keep.begin(), keep.end(), variable) == keep.end())
      tracer.update(variable, ops::stop_gradient(now));
  }
}

}  // namespace

StepBuilder::StepBuilder(Trainer& trainer, Tracer& tracer, StepBatch batch, int64_t samples)
    : trainer_(&trainer), tracer_(&tracer), batch_(std::move(batch)), samples_(samples) {
  // Weights are read before the model is called: gradients are with respect to these values.
  if (training()) read_again(model()->trainable_weights());
}

bool StepBuilder::training() const { return tracer_->training(); }
const LayerPtr& StepBuilder::model() const { return trainer_->model(); }

void StepBuilder::read_again(const std::vector<Variable>& variables) {
  if (trainer_->options().steps != nullptr) {  // Keras's own steps differentiate once
    std::vector<Variable> keep;
    for (const auto& item : values_)
      if (std::find(variables.begin(), variables.end(), item.first) == variables.end())
        keep.push_back(item.first);
    cut_gradients(*tracer_, with_shards(keep));
  }
  for (const Variable& variable : variables)
    values_[variable] = read_all_shards({variable}, *tracer_);
}

const Values& StepBuilder::values_of(const Variable& variable) {
  if (!values_.contains(variable)) read_again({variable});
  return values_.at(variable);
}

Tree<Traced> StepBuilder::call_model(const Tree<Value>& x, std::optional<bool> training) {
  return call(model(), x, training);
}

Tree<Traced> StepBuilder::call(const LayerPtr& layer, const Tree<Value>& input,
                               std::optional<bool> training) {
  return call(layer, without_masks(input), training);
}

Tree<Traced> StepBuilder::call(const LayerPtr& layer, const Tree<Traced>& input,
                               std::optional<bool> training) {
  require(layer != nullptr, "step: expected a layer to call, got a null pointer");
  Shapes shapes;
  input.each([&](const Traced& t) {
    Dims dims = t.value.shape().dims();
    if (!dims.empty()) dims[0] = unknown;
    shapes.emplace_back(dims);
  });
  layer->ensure_built(shapes);
  read_again({});
  const size_t before = tracer_->losses().size();
  Tree<Traced> results =
      tracer_->invoke(*layer, {{input}, {}}, training.value_or(tracer_->training()));
  const Values& all = tracer_->losses();
  Values added(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
  std::erase_if(losses_, [&](const auto& item) { return item.first == layer.get(); });
  losses_.emplace_back(layer.get(), std::move(added));
  return results;
}

Values StepBuilder::losses() const {
  Values all;
  for (const auto& item : losses_) all.insert(all.end(), item.second.begin(), item.second.end());
  for (const Variable& v : model()->trainable_weights())
    if (const Regularizer& regularizer = v.spec().regularizer; regularizer)
      all.push_back(regularizer(tracer_->read(v)));
  return all;
}

Value StepBuilder::compiled_loss(const StepBatch& batch, const Tree<Traced>& y_pred) {
  return trainer_->total_loss(*this, batch, y_pred);
}

Value StepBuilder::track(const Metric& metric, const Sample& sample) {
  MetricState& state = metric.state();
  state.build(sample.y_true.defined() ? sample.y_true.shape() : Shape{}, sample.y_pred.shape());
  state.update(*tracer_, sample);
  trainer_->keep(metric.ptr());
  if (std::find(tracked_.begin(), tracked_.end(), metric.ptr()) == tracked_.end())
    tracked_.push_back(metric.ptr());
  return state.result(*tracer_);
}

Values StepBuilder::gradients(Value loss, const std::vector<Variable>& variables) {
  require(loss.defined() && loss.rank() == 0 && is_float(loss.dtype()),
          "gradients: expected a scalar loss of floats, got ",
          loss.defined() ? text(loss.type()) : "an undefined value");
  Values by_shard;
  for (const Variable& variable : variables) {
    const Values& values = values_of(variable);
    by_shard.insert(by_shard.end(), values.begin(), values.end());
  }
  const Values found =
      detail::pull_back(tracer_->block(), {loss}, {ops::full_like(loss, 1)}, by_shard);
  return join_gradients(variables, found, *tracer_);
}

void StepBuilder::apply(const Optimizer& optimizer, const Values& gradients,
                        const std::vector<Variable>& variables) {
  require(static_cast<bool>(optimizer), "apply: expected an optimizer, got none");
  require(gradients.size() == variables.size(), "apply: expected a gradient for each of ",
          variables.size(), " variables, got ", gradients.size());
  optimizer->build(variables);
  optimizer->apply(*tracer_, gradients);
  trainer_->keep(optimizer);
  read_again(variables);
}

void StepBuilder::minimize(Value loss) {
  const std::vector<Variable> variables = model()->trainable_weights();
  const Optimizer& optimizer = trainer_->options().optimizer;
  if (variables.empty())
    optimizer->build(variables);  // as in Keras, there is nothing to train
  else
    minimize(loss, optimizer, variables);
}

void StepBuilder::minimize(Value loss, const Optimizer& optimizer,
                           const std::vector<Variable>& variables) {
  require(static_cast<bool>(optimizer), "minimize: expected an optimizer, got none");
  optimizer->build(variables);
  apply(optimizer, gradients(optimizer->scale_loss(*tracer_, loss), variables), variables);
}

Value StepBuilder::read(const Variable& variable) const { return tracer_->read(variable); }

void StepBuilder::assign(const Variable& variable, Value value) {
  tracer_->update(variable, value);
  values_.contains(variable) ? read_again({variable}) : read_again({});
}

// Variables that `write` uses first have the value of their parameter before it.
void StepBuilder::only_if(Value condition, const std::function<void()>& write) {
  require(condition.defined() && condition.dtype() == DType::boolean && condition.rank() == 0,
          "only_if: expected a bool scalar as condition, got ",
          condition.defined() ? text(condition.type()) : "an undefined value");
  read_again({});
  Values before;
  for (const Variable& v : tracer_->variables()) before.push_back(tracer_->read(v));
  write();
  const Values parameters = tracer_->block().parameter_values();
  const std::vector<Variable> all = tracer_->variables();
  const size_t first = parameters.size() - all.size();  // parameters before these are inputs
  for (size_t i = 0; i < all.size(); ++i) {
    const Value old = i < before.size() ? before[i] : parameters[first + i];
    const Value now = tracer_->read(all[i]);
    if (now == old) continue;
    tracer_->update(all[i], ops::where(tracer_->bring(condition, all[i].device()), now, old));
  }
  std::vector<Variable> known;
  for (const auto& item : values_) known.push_back(item.first);
  read_again(known);
}

Value StepBuilder::random_key(int64_t words) {
  const Variable& seed = trainer_->seed();
  const Value key = tracer_->read(seed);
  tracer_->update(seed, ops::advance(key, words));
  return key;
}

ValueLogs ModelSteps::train_step(StepBuilder& step) {
  const StepBatch& batch = step.batch();
  const Tree<Traced> y_pred = step.call_model(batch.x);
  const Value loss = compute_loss(step, batch, y_pred);
  step.track_loss(loss);
  step.minimize(loss);
  return compute_metrics(step, batch, y_pred);
}

ValueLogs ModelSteps::test_step(StepBuilder& step) {
  const StepBatch& batch = step.batch();
  const Tree<Traced> y_pred = step.call_model(batch.x);
  step.track_loss(compute_loss(step, batch, y_pred));
  return compute_metrics(step, batch, y_pred);
}

Tree<Traced> ModelSteps::predict_step(StepBuilder& step) { return step.call_model(step.batch().x); }

Value ModelSteps::compute_loss(StepBuilder& step, const StepBatch& batch,
                               const Tree<Traced>& y_pred) {
  return step.compiled_loss(batch, y_pred);
}

ValueLogs ModelSteps::compute_metrics(StepBuilder& step, const StepBatch& batch,
                                      const Tree<Traced>& y_pred) {
  return step.compiled_metrics(batch, y_pred);
}

}  // namespace keratin

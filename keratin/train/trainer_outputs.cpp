// Losses and metrics of a model's outputs.
#include <algorithm>
#include <set>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/saved_form.h"
#include "keratin/graph/sequential.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/train/loss_tracker.h"
#include "keratin/train/trainer.h"

namespace keratin {
namespace {

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

std::vector<Traced> Trainer::outputs_of(const Tree<Traced>& y_pred) const {
  const std::vector<Traced> outputs = y_pred.flat();
  require(outputs.size() == output_names_.size(), "model '", model_->name(), "': expected ",
          output_names_.size(), " predictions, for ", listed(output_names_), ", got ",
          outputs.size());
  return outputs;
}

Value Trainer::total_loss(StepBuilder& step, const StepBatch& batch, const Tree<Traced>& y_pred) {
  resolve(y_pred);
  const std::vector<Traced> outputs = outputs_of(y_pred);
  const auto targets = per_output(batch.y, "y");
  const auto weights = per_output(batch.sample_weight, "sample_weight");
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
    if (l.tracker) keratin::track(*l.tracker, step.tracer(), loss, step.samples());
    add(l.weight == 1 ? loss : loss * l.weight);
  }
  for (const Value loss : step.losses()) add(loss.rank() > 0 ? ops::sum(loss) : loss);
  require(total.defined(), "No loss to compute. Provide a `loss` argument in `compile()`.");
  return total;
}

void StepBuilder::track_loss(Value loss) {
  require(loss.defined() && loss.rank() == 0, "track_loss: expected a scalar, got ",
          loss.defined() ? text(loss.type()) : "nothing");
  keratin::track(*trainer_->loss_tracker_, *tracer_, loss, samples_);
}

void Trainer::update_metrics(StepBuilder& step, const StepBatch& batch,
                             const Tree<Traced>& y_pred) {
  resolve(y_pred);
  const std::vector<Traced> outputs = outputs_of(y_pred);
  const auto targets = per_output(batch.y, "y");
  const auto weights = per_output(batch.sample_weight, "sample_weight");
  for (OutputMetric& m : metrics_) {
    require(targets[m.output].has_value(), "the output '", output_names_[m.output],
            "' has the metric '", m.state->name(), "', but no target `y` was given for it");
    const Value y_true = *targets[m.output], prediction = outputs[m.output].value;
    if (!m.built) m.state->build(y_true.shape(), prediction.shape());
    m.built = true;
    m.state->update(step.tracer(), {.y_true = y_true,
                                    .y_pred = prediction,
                                    .weight = m.weighted ? weights[m.output] : std::nullopt,
                                    .mask = outputs[m.output].mask,
                                    .dialect = dialect_});
  }
}

ValueLogs StepBuilder::compiled_metrics(const StepBatch& batch, const Tree<Traced>& y_pred) {
  trainer_->update_metrics(*this, batch, y_pred);
  std::set<const MetricState*> of_other_steps;
  for (const auto& metric : trainer_->own_metrics_) of_other_steps.insert(metric.get());
  for (const auto& metric : tracked_) of_other_steps.erase(metric.get());
  ValueLogs logs;
  for (const auto& [name, metric] : trainer_->all_metrics()) {
    if (of_other_steps.contains(metric)) continue;
    const Value result = metric->result(*tracer_);
    logs[name] = result.rank() > 0 ? ops::mean(result) : result;
  }
  return logs;
}

}  // namespace keratin

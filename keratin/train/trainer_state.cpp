// All that steps change: metrics, optimizers, and variables of the steps' own.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "keratin/graph/next_seed.h"
#include "keratin/train/trainer.h"
#include "keratin/train/variable_gradients.h"

namespace keratin {

// The variables that steps use and that belong to nothing else: they are part of the state.
void Trainer::find_own_state(const std::vector<Variable>& used) {
  if (options_.steps == nullptr) return;
  const std::vector<Variable> known = with_shards(state());
  for (const Variable& v : used)
    if (std::find(known.begin(), known.end(), v) == known.end()) own_state_.push_back(v);
}

std::vector<std::pair<std::string, MetricState*>> Trainer::all_metrics() const {
  std::vector<std::pair<std::string, MetricState*>> all{{"loss", loss_tracker_.get()}};
  for (const OutputMetric& m : metrics_) all.emplace_back(m.name, m.state.get());
  for (const OutputLoss& l : losses_)
    if (l.tracker) all.emplace_back(l.tracker->name(), l.tracker.get());
  for (const auto& metric : own_metrics_) all.emplace_back(metric->name(), metric.get());
  return all;
}

void Trainer::reset_metrics() {
  for (const auto& item : all_metrics()) item.second->reset();
}

Logs Trainer::metrics_result() const {
  std::set<const MetricState*> unused;
  for (const OutputMetric& m : metrics_)
    if (!m.built) unused.insert(m.state.get());
  Logs logs;
  for (const auto& [name, metric] : all_metrics()) {
    if (unused.contains(metric)) continue;
    const Tensor result = metric->current();
    double sum = 0;
    for (int64_t i = 0; i < result.count(); ++i) sum += result.at(i);
    logs[name] = sum / static_cast<double>(result.count());
  }
  return logs;
}

std::vector<std::string> Trainer::metrics_names() const {
  std::vector<std::string> names{"loss"};
  const auto any = [](const Metrics& m) { return !m.flat().empty() || !m.lists().empty(); };
  if (any(options_.metrics) || any(options_.weighted_metrics))
    names.emplace_back("compile_metrics");
  for (const OutputLoss& l : losses_)
    if (l.tracker) names.push_back(l.tracker->name());
  for (const auto& metric : own_metrics_) names.push_back(metric->name());
  return names;
}

std::vector<Variable> Trainer::metrics_variables() const {
  std::vector<Variable> all;
  for (const auto& item : all_metrics())
    all.insert(all.end(), item.second->variables().begin(), item.second->variables().end());
  return all;
}

std::vector<Variable> Trainer::loss_variables() const {
  std::vector<Variable> all;
  for (const OutputLoss& l : losses_)
    if (l.tracker)
      all.insert(all.end(), l.tracker->variables().begin(), l.tracker->variables().end());
  return all;
}

void Trainer::finalize() {
  options_.optimizer->finalize();
  for (const Optimizer& optimizer : own_optimizers_) optimizer->finalize();
}

void Trainer::keep(const std::shared_ptr<MetricState>& metric) {
  const auto known = all_metrics();
  const auto same = std::find_if(known.begin(), known.end(),
                                 [&](const auto& item) { return item.second == metric.get(); });
  if (same == known.end()) own_metrics_.push_back(metric);
}

void Trainer::keep(const Optimizer& optimizer) {
  const bool known =
      optimizer == options_.optimizer ||
      std::find(own_optimizers_.begin(), own_optimizers_.end(), optimizer) != own_optimizers_.end();
  if (!known) own_optimizers_.push_back(optimizer);
}

const Variable& Trainer::seed() {
  if (!seed_.defined()) {
    const auto first = static_cast<int64_t>(next_seed());
    seed_ = Variable(
        {.name = "seed_generator_state", .shape = {2}, .dtype = DType::i64, .trainable = false});
    seed_.assign(Tensor::of<int64_t>(DType::i64, {2}, {first, 0}));
    seed_.set_path("seed_generator/seed_generator_state");
  }
  return seed_;
}

// Each variable once: the steps' own may belong to the model, or to an optimizer, too.
std::vector<Variable> Trainer::state() const {
  std::vector<Variable> all;
  std::unordered_set<Variable, VariableHash> seen;
  const auto add = [&](const std::vector<Variable>& more) {
    for (const Variable& v : more)
      if (seen.insert(v).second) all.push_back(v);
  };
  add(model_->variables());
  add(options_.optimizer->variables());
  add(loss_tracker_->variables());
  for (const OutputLoss& l : losses_)
    if (l.tracker) add(l.tracker->variables());
  for (const OutputMetric& m : metrics_) add(m.state->variables());
  for (const Optimizer& optimizer : own_optimizers_) add(optimizer->variables());
  for (const auto& metric : own_metrics_) add(metric->variables());
  add(own_state_);
  return all;
}

std::optional<bool> Trainer::lower_is_better(const std::string& name) const {
  if (name == "loss") return true;
  for (const OutputLoss& l : losses_)
    if (l.tracker && l.tracker->name() == name) return true;
  for (const OutputMetric& m : metrics_)
    if (m.name == name) return m.state->lower_is_better();
  for (const auto& metric : own_metrics_)
    if (metric->name() == name && metric->direction() != Direction::none)
      return metric->lower_is_better();
  return std::nullopt;
}

}  // namespace keratin

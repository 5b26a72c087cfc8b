#include "keratin/optimizers/wrappers.h"

#include <algorithm>
#include <map>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/pointwise.h"
#include "keratin/optimizers/pattern.h"

namespace keratin {

Optimizer OptimizerMap::of(const Variable& variable) const {
  const std::string& path = variable.path();
  for (const auto& [pattern, optimizer] : optimizer_map)
    if (pattern == path) return optimizer;
  std::vector<Optimizer> found;
  for (const auto& [pattern, optimizer] : optimizer_map)
    if (is_whole(path, pattern)) found.push_back(optimizer);
  require(found.size() <= 1, "Multiple optimizers assigned to variable ", path, '.');
  return found.empty() ? default_optimizer : found[0];
}

OptimizerMap OptimizerMap::fresh_copy() const {
  OptimizerMap copy{default_optimizer.fresh_copy()};
  for (const auto& [pattern, optimizer] : optimizer_map)
    copy.optimizer_map.emplace_back(pattern, optimizer.fresh_copy());
  return copy;
}

Json OptimizerMap::to_json() const {
  Json map = Json::object();
  for (const auto& [pattern, optimizer] : optimizer_map) map[pattern] = optimizer.to_json();
  const Json config =
      Json::Object{{"default_optimizer", default_optimizer.to_json()}, {"optimizer_map", map}};
  return Named{"OptimizerMap", config}.to_json("keras.optimizers");
}

OptimizerMap OptimizerMap::from_json(const Json& json) {
  const Json& config = json.at("config");
  OptimizerMap map{Optimizer::from_json(config.at("default_optimizer"))};
  for (const auto& [pattern, optimizer] : config.at("optimizer_map").as_object())
    map.optimizer_map.emplace_back(pattern, Optimizer::from_json(optimizer));
  return map;
}

MultiOptimizerState::MultiOptimizerState(MultiOptimizerConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {
  refuse_options({"name", "loss_scale_factor"}, "Instead, set it on the sub-optimizers.");
  const auto add = [&](const Optimizer& optimizer) {
    require(bool(optimizer), "MultiOptimizer: the map has no `default_optimizer`");
    for (const std::string_view kind : {"LossScaleOptimizer", "MultiOptimizer"})
      require(optimizer->class_name() != kind, kind, " cannot be used inside an MultiOptimizer.");
    const auto same = [&](const Share& share) { return share.optimizer == optimizer; };
    if (std::none_of(shares_.begin(), shares_.end(), same)) shares_.push_back({optimizer});
  };
  for (const auto& [pattern, optimizer] : cfg.optimizer_map.optimizer_map) add(optimizer);
  add(cfg.optimizer_map.default_optimizer);
  set_loss_scale_factor(options_.loss_scale_factor);
}

Json MultiOptimizerState::get_config() const {
  Json config = own_config();
  config["loss_scale_factor"] = config::write(options_.loss_scale_factor);
  config["name"] = name();
  return config;
}

void MultiOptimizerState::make_slots(const std::vector<Variable>& variables) {
  for (size_t i = 0; i < variables.size(); ++i) {
    const Optimizer chosen = cfg.optimizer_map.of(variables[i]);
    for (Share& share : shares_)
      if (share.optimizer == chosen) share.variables.push_back(i);
  }
  for (const Share& share : shares_) {
    std::vector<Variable> own;
    for (const size_t i : share.variables) own.push_back(variables[i]);
    if (!own.empty()) make_inner(*share.optimizer, own);
  }
}

std::vector<Variable> MultiOptimizerState::variables() const {
  std::vector<Variable> all = OptimizerState::variables();
  for (const Share& share : shares_)
    for (const Variable& v : share.optimizer->variables()) all.push_back(v);
  return all;
}

std::vector<OptimizerState::Inner> MultiOptimizerState::inner_optimizers() const {
  std::vector<Inner> all;
  std::map<std::string, size_t> used;
  for (const Share& share : shares_) {
    const std::string name = snake_case(share.optimizer->class_name());
    const size_t before = used[name]++;
    all.push_back(
        {"optimizers/" + (before == 0 ? name : text(name, '_', before)), share.optimizer.ptr()});
  }
  return all;
}

void MultiOptimizerState::apply(Tracer& tracer, Values gradients) {
  ensure(gradients.size() == trained().size(), "optimizer: a gradient for each variable");
  for (const Share& share : shares_) {
    Values own;
    for (const size_t i : share.variables) own.push_back(gradients[i]);
    if (!own.empty()) share.optimizer->apply(tracer, own);
  }
  tracer.update(iteration(), tracer.read(iteration()) + 1.0);
}

double MultiOptimizerState::learning_rate() const {
  fail(
      "Learning rate cannot be accessed on a MultiOptimizer. Access the learning rate on the "
      "individual sub-optimizers instead.");
}

void MultiOptimizerState::set_learning_rate(double) {
  fail(
      "Learning rate cannot be set on a MultiOptimizer. Set the learning rate on the individual "
      "sub-optimizers instead.");
}

void MultiOptimizerState::finalize() {
  for (const Share& share : shares_)
    if (share.optimizer->built()) share.optimizer->finalize();
}

void MultiOptimizerState::set_loss_scale_factor(std::optional<double> factor) {
  options_.loss_scale_factor = factor;
  for (const Share& share : shares_) share.optimizer->set_loss_scale_factor(factor);
}

}  // namespace keratin

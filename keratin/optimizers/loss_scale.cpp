#include "keratin/optimizers/wrappers.h"

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

Value all_finite(const Values& gradients) {
  Value finite;
  for (const Value g : gradients) {
    if (!g.defined()) continue;
    const Value own = ops::all(ops::isfinite(g));
    finite = finite.defined() ? finite & own : own;
  }
  return finite;
}

}  // namespace

LossScaleState::LossScaleState(LossScaleConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {
  require(bool(cfg.inner_optimizer), "LossScaleOptimizer: an `inner_optimizer` is missing");
  require(cfg.dynamic,
          "LossScaleOptimizer no longer supports `dynamic=False`. Instead, simply set "
          "`loss_scale_factor` directly on the `inner_optimizer`.");
  refuse_options({"name"}, "Instead, set it on the `inner_optimizer`.");
  cfg.inner_optimizer->set_loss_scale_factor({});
}

Optimizer detail::with_scaled_loss(const Optimizer& inner) {
  if (inner->class_name() == LossScaleConfig::keras_name) return inner;
  return LossScaleOptimizer({.inner_optimizer = inner}, {.name = "loss_scale_optimizer"});
}

Json LossScaleState::get_config() const {
  Json config = Json::Object{{"name", name()}};
  for (const auto& [key, value] : own_config().as_object()) config[key] = value;
  return config;
}

void LossScaleState::make_slots(const std::vector<Variable>& variables) {
  counter_ = add_variable("step_counter", {}, DType::i32);
  scale_ = add_variable("dynamic_scale", {}, DType::f32, initializers::Constant(cfg.initial_scale));
  make_inner(*cfg.inner_optimizer, variables);
}

std::vector<Variable> LossScaleState::variables() const {
  std::vector<Variable> all = OptimizerState::variables();
  for (const Variable& v : cfg.inner_optimizer->variables()) all.push_back(v);
  return all;
}

Value LossScaleState::scale_loss(Tracer& tracer, Value loss) {
  const Values both = ops::promote({loss, tracer.read(scale_)});
  return both[0] * both[1];
}

void LossScaleState::apply(Tracer& tracer, Values gradients) {
  const Value scale = tracer.read(scale_), counter = tracer.read(counter_);
  const Value finite = all_finite(gradients);
  require(finite.defined(), "No gradients provided for any variable.");
  for (Value& g : gradients) {
    if (!g.defined()) continue;
    const Values both = ops::promote({g, scale});
    g = both[0] / both[1];
  }
  only_if(tracer, finite, [&] { cfg.inner_optimizer->apply(tracer, gradients); });
  const auto count = [&](double n) { return ops::scalar_like(counter, n); };
  const Value due = ops::equal(counter, count(static_cast<double>(cfg.dynamic_growth_steps - 1)));
  tracer.update(counter_, ops::where(finite & !due, counter + 1.0, count(0)));
  const Value grown = ops::where(due, scale * 2.0, scale);
  tracer.update(scale_, ops::where(finite, grown, scale * 0.5));
}

}  // namespace keratin

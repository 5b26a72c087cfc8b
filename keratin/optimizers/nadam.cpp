#include "keratin/graph/tracer.h"
#include "keratin/optimizers/adam.h"

#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// β₁ during its warm-up.
Value warm(Value beta_1, Value count) {
  return beta_1 * (1.0 - ops::power(ops::scalar_like(count, 0.96), count) * 0.5);
}

}  // namespace

NadamOptimizer::NadamOptimizer(NadamConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void NadamOptimizer::make_slots(const std::vector<Variable>& variables) {
  std::tie(momentums_, velocities_) = add_slot_pairs(variables, "momentum", "velocity");
  // Keras gives it no name, so it has the default name of variables.
  product_ =
      add_variable("variable", {}, variables.empty() ? DType::f32 : variables[0].dtype(), "ones");
  product_.set_path("variable");
}

void NadamOptimizer::begin(Tracer& tracer, Value count) {
  const Value t = ops::cast(count, product_.dtype());
  const Value product = tracer.read(product_);
  tracer.update(product_, warm(product * cfg.beta_1, t));
}

void NadamOptimizer::update(const Step& s) {
  const Value beta_1 = s.number(cfg.beta_1), beta_2 = s.number(cfg.beta_2);
  const Value now = warm(beta_1, s.count), next = warm(beta_1, s.count + 1.0);
  const Value so_far = ops::cast(s.read(product_), s.variable.dtype());
  const auto average = [&](const Variable& slot, Value target, Value beta) {
    return s.assign(slot, s.read(slot) + (target - s.read(slot)) * (1.0 - beta));
  };
  const Value m = average(momentums_[s.index], s.gradient, beta_1);
  const Value v = average(velocities_[s.index], ops::square(s.gradient), beta_2);
  const Value ahead = next * m / (1.0 - so_far * next);
  const Value direction = ahead + (1.0 - now) * s.gradient / (1.0 - so_far);
  const Value spread = v / (1.0 - s.power(cfg.beta_2));
  s.descend(direction * s.rate / (ops::sqrt(spread) + cfg.epsilon));
}

}  // namespace keratin

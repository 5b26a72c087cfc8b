#include "keratin/optimizers/sgd.h"

#include "keratin/ops/pointwise.h"

namespace keratin {

RMSpropOptimizer::RMSpropOptimizer(RMSpropConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void RMSpropOptimizer::make_slots(const std::vector<Variable>& variables) {
  velocities_ = add_slots(variables, "velocity");
  if (cfg.momentum > 0) momentums_ = add_slots(variables, "momentum");
  if (cfg.centered) means_ = add_slots(variables, "average_gradient");
}

void RMSpropOptimizer::update(const Step& s) {
  const auto average = [&](const Variable& slot, Value target) {
    return s.assign(slot, s.read(slot) * cfg.rho + target * (1 - cfg.rho));
  };
  Value spread = average(velocities_[s.index], ops::square(s.gradient));
  if (cfg.centered) spread = spread - ops::square(average(means_[s.index], s.gradient));
  Value change = s.rate * s.gradient / ops::sqrt(spread + cfg.epsilon);
  if (cfg.momentum > 0) {
    const Variable& momentum = momentums_[s.index];
    change = s.assign(momentum, s.read(momentum) * cfg.momentum + change);
  }
  s.descend(change);
}

}  // namespace keratin

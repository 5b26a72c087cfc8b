#include "keratin/optimizers/sgd.h"

#include "keratin/ops/pointwise.h"

namespace keratin {

AdadeltaOptimizer::AdadeltaOptimizer(AdadeltaConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void AdadeltaOptimizer::make_slots(const std::vector<Variable>& variables) {
  std::tie(gradients_, deltas_) =
      add_slot_pairs(variables, "accumulated_grad", "accumulated_delta_var");
}

void AdadeltaOptimizer::update(const Step& s) {
  const auto average = [&](const Variable& slot, Value target) {
    return s.assign(slot, s.read(slot) * cfg.rho + ops::square(target) * (1 - cfg.rho));
  };
  const auto rms = [&](Value mean_square) { return ops::sqrt(mean_square + cfg.epsilon); };
  const Value gradients = average(gradients_[s.index], s.gradient);
  const Value change = rms(s.read(deltas_[s.index])) * s.gradient / rms(gradients);
  average(deltas_[s.index], change);
  s.descend(s.rate * change);
}

}  // namespace keratin

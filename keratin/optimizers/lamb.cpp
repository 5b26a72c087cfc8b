#include "keratin/optimizers/adam.h"

#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

LambOptimizer::LambOptimizer(LambConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void LambOptimizer::make_slots(const std::vector<Variable>& variables) {
  std::tie(momentums_, velocities_) = add_slot_pairs(variables, "momentum", "velocity");
}

void LambOptimizer::update(const Step& s) {
  const Value m = s.approach(momentums_[s.index], s.gradient, cfg.beta_1);
  const Value v = s.approach(velocities_[s.index], ops::square(s.gradient), cfg.beta_2);
  const Value spread = ops::sqrt(v / (1.0 - s.power(cfg.beta_2))) + cfg.epsilon;
  const Value step = m / (1.0 - s.power(cfg.beta_1)) / spread;
  const auto norm = [](Value x) { return ops::sqrt(ops::sum(ops::square(x))); };
  const Value of_weight = norm(s.weight()), of_step = norm(step);
  const Value both = (of_weight > 0.0) & (of_step > 0.0);
  s.descend(ops::where(both, of_weight / of_step, s.number(1)) * s.rate * step);
}

}  // namespace keratin

#include "keratin/optimizers/adam.h"

#include "keratin/ops/pointwise.h"

namespace keratin {

AdamaxOptimizer::AdamaxOptimizer(AdamaxConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void AdamaxOptimizer::make_slots(const std::vector<Variable>& variables) {
  std::tie(momentums_, norms_) = add_slot_pairs(variables, "momentum", "norm");
}

void AdamaxOptimizer::update(const Step& s) {
  const Value m = s.approach(momentums_[s.index], s.gradient, cfg.beta_1);
  const Value fading = s.read(norms_[s.index]) * cfg.beta_2;
  const Value u = s.assign(norms_[s.index], ops::maximum(fading, ops::abs(s.gradient)));
  s.descend(s.rate * m / ((1.0 - s.power(cfg.beta_1)) * (u + cfg.epsilon)));
}

}  // namespace keratin

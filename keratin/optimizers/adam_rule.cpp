#include "keratin/optimizers/adam_rule.h"

#include "keratin/ops/pointwise.h"

namespace keratin {

void AdamRule::operator()(const OptimizerStep& s, const Variable& momentum,
                          const Variable& velocity, const Variable& peak) const {
  const Value scale = s.rate * ops::sqrt(1.0 - s.power(beta_2)) / (1.0 - s.power(beta_1));
  const Value m = s.approach(momentum, s.gradient, beta_1);
  Value v = s.approach(velocity, ops::square(s.gradient), beta_2);
  if (peak.defined()) v = s.assign(peak, ops::maximum(s.read(peak), v));
  s.descend(m * scale / (ops::sqrt(v) + epsilon));
}

}  // namespace keratin

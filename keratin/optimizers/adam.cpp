#include "keratin/optimizers/adam.h"

#include <cmath>

#include "keratin/ops/pointwise.h"

namespace keratin {

AdamOptimizer::AdamOptimizer(AdamConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void AdamOptimizer::make_slots(const std::vector<Variable>& variables) {
  for (const Variable& v : variables) {
    momentums_.push_back(add_slot(v, "momentum"));
    velocities_.push_back(add_slot(v, "velocity"));
  }
  if (cfg.amsgrad) peaks_ = add_slots(variables, "velocity_hat");
}

void AdamOptimizer::update(const Step& s) {
  const auto power = [&](double beta) {
    return ops::pow(ops::scalar_like(s.count, beta), s.count);
  };
  const Value scale = s.rate * ops::sqrt(1.0 - power(cfg.beta_2)) / (1.0 - power(cfg.beta_1));
  const auto approach = [&](const Variable& slot, Value target, double beta) {
    const Value old = s.read(slot);
    return s.assign(slot, old + (target - old) * (1 - beta));
  };
  const Value m = approach(momentums_[s.index], s.gradient, cfg.beta_1);
  Value v = approach(velocities_[s.index], ops::square(s.gradient), cfg.beta_2);
  if (cfg.amsgrad) v = s.assign(peaks_[s.index], ops::maximum(s.read(peaks_[s.index]), v));
  s.assign(s.variable, s.read(s.variable) - m * scale / (ops::sqrt(v) + cfg.epsilon));
}

}  // namespace keratin

#include "keratin/optimizers/adam.h"

#include "keratin/optimizers/adam_rule.h"

namespace keratin {

AdamOptimizer::AdamOptimizer(AdamConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void AdamOptimizer::make_slots(const std::vector<Variable>& variables) {
  std::tie(momentums_, velocities_) = add_slot_pairs(variables, "momentum", "velocity");
  peaks_.resize(variables.size());
  if (cfg.amsgrad) peaks_ = add_slots(variables, "velocity_hat");
}

void AdamOptimizer::update(const Step& s) {
  const AdamRule rule{cfg.beta_1, cfg.beta_2, cfg.epsilon};
  rule(s, momentums_[s.index], velocities_[s.index], peaks_[s.index]);
}

}  // namespace keratin

#include "keratin/optimizers/adam.h"

#include "keratin/base/text.h"
#include "keratin/optimizers/adam_rule.h"

namespace keratin {

AdamWOptimizer::AdamWOptimizer(AdamWConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {
  require(cfg.weight_decay.has_value(),
          "Argument `weight_decay` must be a float. Received: weight_decay=None");
}

void AdamWOptimizer::make_slots(const std::vector<Variable>& variables) {
  std::tie(momentums_, velocities_) = add_slot_pairs(variables, "momentum", "velocity");
  peaks_.resize(variables.size());
  if (cfg.amsgrad) peaks_ = add_slots(variables, "velocity_hat");
}

void AdamWOptimizer::update(const Step& s) {
  const AdamRule rule{cfg.beta_1, cfg.beta_2, cfg.epsilon};
  rule(s, momentums_[s.index], velocities_[s.index], peaks_[s.index]);
}

}  // namespace keratin

#include "keratin/optimizers/sgd.h"

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

SGDOptimizer::SGDOptimizer(SGDConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {
  require(cfg.momentum >= 0 && cfg.momentum <= 1,
          "`momentum` must be a float between [0, 1]. Received: momentum=", cfg.momentum);
}

void SGDOptimizer::make_slots(const std::vector<Variable>& variables) {
  if (cfg.momentum != 0) momentums_ = add_slots(variables, "momentum");
}

void SGDOptimizer::update(const Step& s) {
  const Value descent = s.gradient * s.rate;
  const Value w = s.read(s.variable);
  if (momentums_.empty()) {
    s.assign(s.variable, w - descent);
    return;
  }
  const Variable& momentum = momentums_[s.index];
  const Value speed = s.assign(momentum, s.read(momentum) * cfg.momentum - descent);
  s.assign(s.variable, w + (cfg.nesterov ? speed * cfg.momentum - descent : speed));
}

}  // namespace keratin

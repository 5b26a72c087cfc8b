#include "keratin/optimizers/sgd.h"

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

LionOptimizer::LionOptimizer(LionConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {
  require(cfg.beta_1 > 0 && cfg.beta_1 <= 1,
          "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to "
          "SignSGD. Received: beta_1=",
          Json(cfg.beta_1), '.');
}

void LionOptimizer::make_slots(const std::vector<Variable>& variables) {
  momentums_ = add_slots(variables, "momentum");
}

void LionOptimizer::update(const Step& s) {
  const Value m = s.read(momentums_[s.index]);
  const auto mixed = [&](double beta) { return m * beta + s.gradient * (1.0 - s.number(beta)); };
  s.descend(s.rate * ops::sign(mixed(cfg.beta_1)));
  s.assign(momentums_[s.index], mixed(cfg.beta_2));
}

}  // namespace keratin

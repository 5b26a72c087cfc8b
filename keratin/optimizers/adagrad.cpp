#include "keratin/optimizers/sgd.h"

#include "keratin/ops/pointwise.h"

namespace keratin {

AdagradOptimizer::AdagradOptimizer(AdagradConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void AdagradOptimizer::make_slots(const std::vector<Variable>& variables) {
  sums_ =
      add_slots(variables, "accumulator", initializers::Constant(cfg.initial_accumulator_value));
}

void AdagradOptimizer::update(const Step& s) {
  const Variable& slot = sums_[s.index];
  const Value sum = s.assign(slot, s.read(slot) + ops::square(s.gradient));
  s.descend(s.rate * s.gradient / ops::sqrt(sum + cfg.epsilon));
}

}  // namespace keratin

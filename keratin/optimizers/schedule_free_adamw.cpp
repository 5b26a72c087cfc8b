#include "keratin/optimizers/adam.h"

#include "keratin/ops/pointwise.h"

namespace keratin {

ScheduleFreeAdamWOptimizer::ScheduleFreeAdamWOptimizer(ScheduleFreeAdamWConfig config,
                                                       OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void ScheduleFreeAdamWOptimizer::make_slots(const std::vector<Variable>& variables) {
  for (const Variable& v : variables) {
    const auto as_it_is = [v](const Shape&, DType, uint64_t) { return v.value().clone(); };
    momentums_.push_back(add_slot(v, "momentum", Initializer(as_it_is)));
    velocities_.push_back(add_slot(v, "velocity"));
  }
}

void ScheduleFreeAdamWOptimizer::update(const Step& s) {
  const Value beta_1 = s.number(cfg.beta_1), beta_2 = s.number(cfg.beta_2);
  Value rate = s.rate;
  if (cfg.warmup_steps > 0)
    rate = rate * ops::minimum(s.count / static_cast<double>(cfg.warmup_steps), s.number(1));
  const Value old_v = s.read(velocities_[s.index]), old_z = s.read(momentums_[s.index]);
  const Value v =
      s.assign(velocities_[s.index], old_v + (ops::square(s.gradient) - old_v) * (1.0 - beta_2));
  const Value spread = ops::sqrt(v / (1.0 - s.power(cfg.beta_2))) + cfg.epsilon;
  const Value z = s.assign(momentums_[s.index], old_z - rate * s.gradient / spread);
  const Value old_x = (s.weight() - (1.0 - beta_1) * old_z) / beta_1;
  const Value share = 1.0 / s.count;
  const Value x = (1.0 - share) * old_x + share * z;
  s.assign(s.variable, (1.0 - beta_1) * z + beta_1 * x);
}

}  // namespace keratin

#include "keratin/optimizers/sgd.h"

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

FtrlOptimizer::FtrlOptimizer(FtrlConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {
  const auto check = [](bool holds, std::string_view name, std::string_view sign, double value) {
    require(holds, '`', name, "` needs to be ", sign, " or zero. Received: ", name, '=',
            Json(value), '.');
  };
  check(cfg.learning_rate_power <= 0, "learning_rate_power", "negative", cfg.learning_rate_power);
  detail::for_each_field(cfg, [&]<class T>(std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, double>)
      check(value >= 0 || name == "learning_rate_power" || name == "beta", name, "positive", value);
  });
}

void FtrlOptimizer::make_slots(const std::vector<Variable>& variables) {
  for (const Variable& v : variables) {
    sums_.push_back(
        add_slot(v, "accumulator", initializers::Constant(cfg.initial_accumulator_value)));
    linears_.push_back(add_slot(v, "linear"));
  }
}

void FtrlOptimizer::update(const Step& s) {
  const auto power = [&](Value x) {
    return ops::power(x, ops::scalar_like(x, -cfg.learning_rate_power));
  };
  const Value old = s.read(sums_[s.index]), w = s.weight();
  const Value sum = s.assign(sums_[s.index], old + ops::square(s.gradient));
  const Value shrunk = s.gradient + w * (2 * cfg.l2_shrinkage_regularization_strength);
  const Variable& slot = linears_[s.index];
  const Value z = s.assign(slot, s.read(slot) + (shrunk - (power(sum) - power(old)) / s.rate * w));
  const Value l2 = cfg.l2_regularization_strength + cfg.beta / (s.rate * 2.0);
  const double l1 = cfg.l1_regularization_strength;
  s.assign(s.variable, (ops::clip(z, -l1, l1) - z) / (power(sum) / s.rate + l2 * 2.0));
}

}  // namespace keratin

#include "keratin/optimizers/sgd.h"

#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

Value rms(Value x) { return ops::sqrt(ops::mean(ops::square(x))); }

bool is_factored(const Variable& v) { return v.shape().rank() >= 2; }

Shape without_axis(const Shape& shape, int64_t from_end) {
  Dims dims = shape.dims();
  dims.erase(dims.end() - from_end);
  return dims;
}

}  // namespace

AdafactorOptimizer::AdafactorOptimizer(AdafactorConfig config, OptimizerOptions options)
    : OptimizerOf(std::move(config), std::move(options)) {}

void AdafactorOptimizer::make_slots(const std::vector<Variable>& variables) {
  // If there is nothing to factor, Keras keeps an integer instead, which files have, too.
  const auto placeholder = [&](const Variable& v) {
    const Variable made = add_variable(v.name(), {}, DType::i32);
    made.set_path(v.name());
    return made;
  };
  for (const Variable& v : variables) {
    const auto mean_over = [&](int64_t axis_from_end) {
      if (!is_factored(v)) return placeholder(v);
      return add_variable(v.name(), without_axis(v.shape(), axis_from_end), v.dtype());
    };
    rows_.push_back(mean_over(1));
    columns_.push_back(mean_over(2));
    velocities_.push_back(add_slot(v, "velocity"));
  }
}

Value AdafactorOptimizer::mean_square(const Step& s) const {
  const Value squares = ops::square(s.gradient) + cfg.epsilon_1;
  const Value keep = 1.0 - ops::power(s.count, s.number(cfg.beta_2_decay));
  const auto average = [&](const Variable& slot, Value target) {
    return s.assign(slot, keep * s.read(slot) + (1.0 - keep) * target);
  };
  const Variable& velocity = velocities_[s.index];
  if (!is_factored(s.variable)) return average(velocity, squares);
  const Value r = average(rows_[s.index], ops::mean(squares, {-1}));
  const Value c = average(columns_[s.index], ops::mean(squares, {-2}));
  const Value share = r / ops::mean(r, {-1}, true);
  return s.assign(velocity, ops::expand_dims(share, -1) * ops::expand_dims(c, -2));
}

void AdafactorOptimizer::update(const Step& s) {
  // Keras bounds the rate whether relative_step is set or not.
  const Value rate = ops::minimum(s.rate, 1.0 / ops::sqrt(s.count));
  const Value scale = ops::maximum(s.number(cfg.epsilon_2), rms(s.weight())) * rate;
  const Value step = s.gradient / ops::sqrt(mean_square(s));
  s.descend(scale * (step / ops::maximum(s.number(1), rms(step) / cfg.clip_threshold)));
}

}  // namespace keratin

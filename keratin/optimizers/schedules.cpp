#include "keratin/optimizers/schedules.h"

#include <cmath>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"

namespace keratin::schedules {
namespace {

void check_steps(double steps, std::string_view name = "decay_steps") {
  require(steps > 0, "Argument `", name, "` must be > 0. Received: ", name, '=', steps);
}

Value number(Value step, double value) { return ops::scalar_like(step, value); }

Value periods(Value step, double steps, bool staircase) {
  const Value passed = step / steps;
  return staircase ? ops::floor(passed) : passed;
}

// From 1 down to 0.
Value half_cosine(Value done) { return 0.5 * (1.0 + ops::cos(done * std::numbers::pi)); }

// [1, 2], [0.5]: as Python prints a list.
std::string list(const std::vector<double>& numbers) {
  std::string out;
  for (const double x : numbers) out += text(out.empty() ? "" : ", ", x);
  return '[' + out + ']';
}

}  // namespace

void ExponentialDecay::check() const { check_steps(decay_steps); }

Value ExponentialDecay::call(Value step) const {
  const Value passed = periods(step, decay_steps, staircase);
  return initial_learning_rate * ops::power(number(step, decay_rate), passed);
}

void InverseTimeDecay::check() const { check_steps(decay_steps); }

Value InverseTimeDecay::call(Value step) const {
  const Value passed = periods(step, decay_steps, staircase);
  return initial_learning_rate / (1.0 + decay_rate * passed);
}

void PiecewiseConstantDecay::check() const {
  require(boundaries.size() + 1 == values.size(),
          "The length of boundaries should be 1 less than the length of values. Received: "
          "boundaries=",
          list(boundaries), " of length ", boundaries.size(), ", and values=", list(values),
          " of length ", values.size(), '.');
}

// Steps are integers, and Keras compares them with integer boundaries.
Value PiecewiseConstantDecay::call(Value step) const {
  Value rate = number(step, values.back());
  for (size_t i = boundaries.size(); i-- > 0;)
    rate = ops::where(step <= std::trunc(boundaries[i]), number(step, values[i]), rate);
  return rate;
}

void PolynomialDecay::check() const { check_steps(decay_steps); }

Value PolynomialDecay::call(Value step) const {
  Value steps = number(step, decay_steps);
  if (cycle) {
    const Value started = ops::equal(step, number(step, 0));
    steps = steps * ops::where(started, number(step, 1), ops::ceil(step / decay_steps));
  } else {
    step = ops::minimum(step, steps);
  }
  const Value range = number(step, initial_learning_rate) - end_learning_rate;
  return range * ops::power(1.0 - step / steps, number(step, power)) + end_learning_rate;
}

void CosineDecay::check() const { check_steps(decay_steps); }

Value CosineDecay::call(Value step) const {
  const auto decayed = [&](Value since, double from) {
    return from * ((1 - alpha) * half_cosine(since / decay_steps) + alpha);
  };
  if (!warmup_target)
    return decayed(ops::minimum(step, number(step, decay_steps)), initial_learning_rate);
  const Value start = number(step, initial_learning_rate);
  const Value now = ops::minimum(step, number(step, decay_steps) + warmup_steps);
  const Value warming = (*warmup_target - start) * (now / warmup_steps) + start;
  return ops::where(now < warmup_steps, warming, decayed(now - warmup_steps, *warmup_target));
}

void CosineDecayRestarts::check() const { check_steps(first_decay_steps, "first_decay_steps"); }

Value CosineDecayRestarts::call(Value step) const {
  Value done = step / first_decay_steps, restarts;
  if (t_mul == 1) {
    restarts = ops::floor(done);
    done = done - restarts;
  } else {
    const Value t = number(step, t_mul);
    restarts = ops::floor(ops::log(1.0 - done * (1.0 - t)) / ops::log(t));
    const Value longer = ops::power(t, restarts);
    done = (done - (1.0 - longer) / (1.0 - t)) / longer;
  }
  const Value height = ops::power(number(step, m_mul), restarts);
  const Value wave = 0.5 * height * (1.0 + ops::cos(done * std::numbers::pi));
  return initial_learning_rate * ((1.0 - number(step, alpha)) * wave + alpha);
}

}  // namespace keratin::schedules

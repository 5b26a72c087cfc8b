#include "keratin/losses/regression.h"

#include <numbers>

#include "keratin/losses/weighting.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/reduce.h"

namespace keratin::losses {
namespace {

// y_true and y_pred, brought to one dtype and rank.
std::pair<Value, Value> paired(Value y_true, Value y_pred) {
  return to_same_rank(cast_like(y_true, y_pred), y_pred);
}

Value at_least(Value x, double low) { return ops::maximum(x, ops::scalar_like(x, low)); }

// x / max(|x|, ε)
Value unit(Value x, int64_t axis) {
  const Value squares = ops::sum(ops::square(x), {axis}, true);
  return x * ops::rsqrt(at_least(squares, keras_epsilon * keras_epsilon));
}

}  // namespace

LossTerms MeanSquaredError::call(Value y_true, Value y_pred) const {
  const auto [t, p] = paired(y_true, y_pred);
  return ops::mean(ops::square(t - p), {-1});
}

LossTerms MeanAbsoluteError::call(Value y_true, Value y_pred) const {
  const auto [t, p] = paired(y_true, y_pred);
  return ops::mean(ops::abs(t - p), {-1});
}

LossTerms MeanAbsolutePercentageError::call(Value y_true, Value y_pred) const {
  const auto [t, p] = paired(y_true, y_pred);
  return 100 * ops::mean(ops::abs((t - p) / at_least(ops::abs(t), keras_epsilon)), {-1});
}

LossTerms MeanSquaredLogarithmicError::call(Value y_true, Value y_pred) const {
  const auto [t, p] = paired(y_true, y_pred);
  const auto log1 = [](Value x) { return ops::log(at_least(x, keras_epsilon) + 1); };
  return ops::mean(ops::square(log1(p) - log1(t)), {-1});
}

Value cosine_of_angle(Value y_true, Value y_pred, int64_t axis) {
  const auto [t, p] = paired(y_true, y_pred);
  return ops::sum(unit(t, axis) * unit(p, axis), {axis});
}

LossTerms CosineSimilarity::call(Value y_true, Value y_pred) const {
  return -cosine_of_angle(y_true, y_pred, axis);
}

LossTerms Huber::call(Value y_true, Value y_pred) const {
  const auto [t, p] = paired(y_true, y_pred);
  const Value error = p - t;
  const Value size = ops::abs(error);
  return ops::mean(
      ops::where(size <= delta, 0.5 * ops::square(error), delta * size - 0.5 * delta * delta),
      {-1});
}

// x + softplus(-2x) - log 2, which does not overflow.
LossTerms LogCosh::call(Value y_true, Value y_pred) const {
  const auto [t, p] = paired(y_true, y_pred);
  const Value x = p - t;
  return ops::mean(x + ops::softplus(-2 * x) - std::numbers::ln2, {-1});
}

}  // namespace keratin::losses

#include "keratin/losses/classification.h"

#include "keratin/losses/weighting.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::losses {
namespace {

Dims axes_of(const std::optional<Sizes>& axis) { return axis ? axis->dims() : Dims{}; }

}  // namespace

LossTerms Dice::call(Value y_true, Value y_pred) const {
  const Value t = cast_like(y_true, y_pred);
  const Dims axes = axes_of(axis);
  const Value both = ops::sum(t * y_pred, axes);
  return 1 - 2 * both / (ops::sum(t, axes) + ops::sum(y_pred, axes) + keras_epsilon);
}

LossTerms Tversky::call(Value y_true, Value y_pred) const {
  const Value t = cast_like(y_true, y_pred);
  const Dims axes = axes_of(axis);
  const Value both = ops::sum(t * y_pred, axes);
  const Value missed = ops::sum((1 - y_pred) * t, axes);
  const Value too_much = ops::sum(y_pred * (1 - t), axes);
  return 1 - both / (both + missed * alpha + too_much * beta + keras_epsilon);
}

}  // namespace keratin::losses

#include "keratin/losses/classification.h"

#include "keratin/losses/margin.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::losses {
namespace {

// How far each prediction is inside the margin.
Value violation(Value y_true, Value y_pred) {
  const Value t = cast_like(y_true, y_pred);
  const Value binary =
      ops::all(ops::equal(t, ops::scalar_like(t, 0)) | ops::equal(t, ops::scalar_like(t, 1)));
  return not_negative(1 - ops::where(binary, 2 * t - 1, t) * y_pred);
}

}  // namespace

LossTerms Hinge::call(Value y_true, Value y_pred) const {
  return ops::mean(violation(y_true, y_pred), {-1});
}

LossTerms SquaredHinge::call(Value y_true, Value y_pred) const {
  return ops::mean(ops::square(violation(y_true, y_pred)), {-1});
}

LossTerms CategoricalHinge::call(Value y_true, Value y_pred) const {
  const Value t = cast_like(y_true, y_pred);
  const Value own = ops::sum(t * y_pred, {-1});
  const Value others = ops::max((1 - t) * y_pred, {-1});
  return not_negative(others - own + 1);
}

}  // namespace keratin::losses

#include "keratin/metrics/accuracy.h"

#include <limits>

#include "keratin/losses/weighting.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin::metrics {
namespace {

Value as_float(Value matches) { return ops::cast(matches, DType::f32); }

// True if fewer than k predictions are larger than the label's; NaN, or a label that is no class,
// counts as the smallest.
Value in_top_k(Value labels, Value y_pred, int64_t k) {
  constexpr double least = -std::numeric_limits<double>::infinity();
  const Value own = ops::one_hot(labels, y_pred.shape().back(), DType::boolean);
  Value score = ops::where(own & !ops::isnan(y_pred), y_pred, ops::scalar_like(y_pred, least));
  score = ops::max(score, {-1}, true);
  const Value larger = ops::sum(ops::cast(y_pred > score, DType::i32), {-1});
  return as_float(larger < static_cast<double>(k));
}

}  // namespace

Value AccuracyConfig::call(Value y_true, Value y_pred) const {
  std::tie(y_true, y_pred) = to_same_rank(cast_like(y_true, y_pred), y_pred);
  return as_float(ops::equal(y_true, y_pred));
}

Value BinaryAccuracyConfig::call(Value y_true, Value y_pred) const {
  std::tie(y_true, y_pred) = to_same_rank(y_true, y_pred);
  const Value guesses = cast_like(y_pred > threshold, y_true);
  return as_float(ops::equal(y_true, guesses));
}

Value CategoricalAccuracyConfig::call(Value y_true, Value y_pred) const {
  return as_float(ops::equal(ops::argmax(y_true, -1), ops::argmax(y_pred, -1)));
}

Value SparseCategoricalAccuracyConfig::call(Value y_true, Value y_pred) const {
  if (y_true.rank() == y_pred.rank() && y_true.shape().back() == 1)
    y_true = ops::squeeze(y_true, -1);
  const Value matches = as_float(ops::equal(cast_to(y_true, DType::i64), ops::argmax(y_pred, -1)));
  return matches.rank() > 1 && matches.shape().back() == 1 ? ops::squeeze(matches, -1) : matches;
}

Value TopKCategoricalAccuracyConfig::call(Value y_true, Value y_pred) const {
  return in_top_k(ops::argmax(y_true, -1), y_pred, k);
}

Value SparseTopKCategoricalAccuracyConfig::call(Value y_true, Value y_pred) const {
  const Shape shape = y_true.shape();
  Dims rows = y_pred.shape().dims();
  rows.pop_back();
  y_true = ops::reshape(y_true, rows);
  if (!from_sorted_ids)
    return ops::reshape(in_top_k(cast_to(y_true, DType::i32), y_pred, k), shape.dims());
  const Value best = ops::slice_axis(y_pred, -1, 0, k);
  const Value same = ops::equal(ops::expand_dims(cast_like(y_true, best), -1), best);
  return ops::reshape(as_float(ops::any(same, {-1})), shape.dims());
}

}  // namespace keratin::metrics

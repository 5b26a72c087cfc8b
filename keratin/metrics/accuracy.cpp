#include "keratin/metrics/accuracy.h"

#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::metrics {
namespace {

Value as_float(Value matches) { return ops::cast(matches, DType::f32); }

}  // namespace

Value BinaryAccuracyConfig::call(Value y_true, Value y_pred) const {
  std::tie(y_true, y_pred) = to_same_rank(y_true, y_pred);
  const Value guesses = ops::cast(y_pred > threshold, y_true.dtype());
  return as_float(ops::equal(y_true, guesses));
}

Value CategoricalAccuracyConfig::call(Value y_true, Value y_pred) const {
  const Value labels = ops::argmax(y_true, -1);
  return as_float(ops::equal(labels, ops::argmax(y_pred, -1)));
}

Value SparseCategoricalAccuracyConfig::call(Value y_true, Value y_pred) const {
  if (y_true.rank() == y_pred.rank() && y_true.shape()[y_true.rank() - 1] == 1)
    y_true = ops::squeeze(y_true, -1);
  return as_float(ops::equal(ops::cast(y_true, DType::i64), ops::argmax(y_pred, -1)));
}

}  // namespace keratin::metrics

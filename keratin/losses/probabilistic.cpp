#include "keratin/losses/probabilistic.h"

#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/softmax.h"

namespace keratin::losses {
namespace {

constexpr double epsilon = 1e-7;

Value within_unit(Value p) { return ops::clip(p, epsilon, 1 - epsilon); }

// -log of the probabilities of classes.
Value surprise(Value y_pred, bool from_logits, int64_t axis) {
  if (from_logits) return -ops::log_softmax(y_pred, axis);
  return -ops::log(within_unit(y_pred / ops::sum(y_pred, {axis}, true)));
}

}  // namespace

LossTerms BinaryCrossentropy::call(Value y_true, Value y_pred) const {
  std::tie(y_pred, y_true) = to_same_rank(y_pred, y_true);
  if (label_smoothing != 0) y_true = y_true * (1 - label_smoothing) + 0.5 * label_smoothing;
  if (from_logits) return ops::mean(ops::sigmoid_cross_entropy(y_pred, y_true), {axis});
  const Value p = within_unit(y_pred);
  return ops::mean(-(y_true * ops::log(p) + (1 - y_true) * ops::log(1 - p)), {axis});
}

LossTerms CategoricalCrossentropy::call(Value y_true, Value y_pred) const {
  std::tie(y_pred, y_true) = to_same_rank(y_pred, y_true);
  require(y_true.shape() == y_pred.shape(),
          "Arguments `target` and `output` must have the same shape. Received: target.shape=",
          keras_shape(y_true.shape()), ", output.shape=", keras_shape(y_pred.shape()));
  if (label_smoothing != 0) {
    const auto classes = static_cast<double>(y_true.shape()[y_true.rank() - 1]);
    y_true = y_true * (1 - label_smoothing) + label_smoothing / classes;
  }
  return ops::sum(y_true * surprise(y_pred, from_logits, axis), {axis});
}

LossTerms SparseCategoricalCrossentropy::call(Value y_true, Value y_pred) const {
  if (y_true.rank() == y_pred.rank() && y_true.shape()[y_true.rank() - 1] == 1)
    y_true = ops::squeeze(y_true, -1);
  const Value labels = ops::cast(y_true, DType::i32);
  const int64_t classes = y_pred.shape()[axis < 0 ? y_pred.rank() + axis : axis];
  const Value one_hot = ops::one_hot(labels, classes, y_pred.dtype(), axis);
  require(one_hot.shape() == y_pred.shape(),
          "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=",
          keras_shape(y_true.shape()), ", output.shape=", keras_shape(y_pred.shape()));
  const Value losses = ops::sum(one_hot * surprise(y_pred, from_logits, axis), {axis});
  if (!ignore_class) return losses;
  const Value valid =
      ops::not_equal(labels, ops::scalar_like(labels, static_cast<double>(*ignore_class)));
  return {ops::select(valid, losses, ops::scalar_like(losses, 0)), valid};
}

}  // namespace keratin::losses

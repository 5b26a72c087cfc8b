#include "keratin/losses/classification.h"
#include "keratin/tensor/shape_rules.h"

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/softmax.h"

namespace keratin::losses {
namespace {

Value within_unit(Value p) { return ops::clip(p, keras_epsilon, 1 - keras_epsilon); }

void require_same_shape(Value y_true, Value y_pred) {
  require(y_true.shape() == y_pred.shape(),
          "Arguments `target` and `output` must have the same shape. Received: target.shape=",
          keras_shape(y_true.shape()), ", output.shape=", keras_shape(y_pred.shape()));
}

Value towards(Value labels, double even, double smoothing) {
  return smoothing == 0 ? labels : labels * (1 - smoothing) + smoothing * even;
}

// The labels in the dtype of the predictions, smoothed towards the uniform distribution.
Value smoothed_classes(Value y_true, Value y_pred, double smoothing) {
  require(y_true.rank() > 0, "Arguments `target` and `output` must be at least rank 1. Received: ",
          "target.shape=", keras_shape(y_true.shape()),
          ", output.shape=", keras_shape(y_pred.shape()));
  const auto classes = static_cast<double>(y_true.shape().back());
  return towards(cast_like(y_true, y_pred), 1 / classes, smoothing);
}

// -t · log p - (1 - t) · log(1 - p)
Value binary_surprise(Value t, Value p) {
  require_same_shape(t, p);
  p = within_unit(p);
  return -(t * ops::log(p) + (1 - t) * ops::log(1 - p));
}

// Probabilities that sum to 1.
Value normalized(Value p, int64_t axis) { return p / ops::sum(p, {axis}, true); }

Value to_power(Value x, double exponent) { return ops::power(x, ops::scalar_like(x, exponent)); }

// Class indices and predictions.
Value class_labels(Value y_true, Value y_pred, int64_t axis) {
  if (y_true.rank() == y_pred.rank() && y_true.shape()[axis] == 1)
    y_true = ops::squeeze(y_true, axis);
  Dims rest = y_pred.shape().dims();
  rest.erase(rest.begin() + axis);
  require(y_true.shape() == Shape(rest),
          "Arguments `target` and `output` must have the same shape up until the last dimension: "
          "target.shape=",
          keras_shape(y_true.shape()), ", output.shape=", keras_shape(y_pred.shape()));
  return cast_to(y_true, DType::i32);
}

// The predictions at the labels; 0 for a label that is no class.
Value at_labels(Value y_pred, Value labels, int64_t axis) {
  const int64_t classes = y_pred.shape()[axis];
  const Value inside = ops::clip(labels, 0, static_cast<double>(classes - 1));
  const Value found =
      ops::squeeze(ops::take_along_axis(y_pred, ops::expand_dims(inside, axis), axis), axis);
  return ops::where(ops::equal(labels, inside), found, ops::scalar_like(found, 0));
}

// -log p[label]
Value sparse_surprise(Value y_pred, Value labels, bool from_logits, int64_t axis) {
  if (from_logits && axis == y_pred.rank() - 1)
    return ops::sparse_softmax_cross_entropy(y_pred, labels);
  if (from_logits) return -at_labels(ops::log_softmax(y_pred, axis), labels, axis);
  const Value p = at_labels(y_pred, labels, axis) / ops::sum(y_pred, {axis});
  const Value is_class = (labels >= 0) & (labels < static_cast<double>(y_pred.shape()[axis]));
  const Value loss = -ops::log(within_unit(p));
  return ops::where(is_class, loss, ops::scalar_like(loss, 0));
}

}  // namespace

LossTerms KLDivergence::call(Value y_true, Value y_pred) const {
  const Value t = ops::clip(cast_like(y_true, y_pred), keras_epsilon, 1);
  const Value p = ops::clip(y_pred, keras_epsilon, 1);
  return ops::sum(t * ops::log(t / p), {-1});
}

LossTerms Poisson::call(Value y_true, Value y_pred) const {
  const Value t = cast_like(y_true, y_pred);
  return ops::mean(y_pred - t * ops::log(y_pred + keras_epsilon), {-1});
}

LossTerms BinaryCrossentropy::call(Value y_true, Value y_pred) const {
  const Value t = towards(cast_like(y_true, y_pred), 0.5, label_smoothing);
  if (!from_logits) return ops::mean(binary_surprise(t, y_pred), {axis});
  require_same_shape(t, y_pred);
  return ops::mean(ops::sigmoid_cross_entropy(y_pred, t), {axis});
}

LossTerms BinaryFocalCrossentropy::call(Value y_true, Value y_pred) const {
  const Value t = towards(cast_like(y_true, y_pred), 0.5, label_smoothing);
  const Value p = from_logits ? ops::sigmoid(y_pred) : y_pred;
  const Value right = t * p + (1 - t) * (1 - p);
  Value loss = to_power(1 - right, gamma) * binary_surprise(t, p);
  if (apply_class_balancing) loss = (t * alpha + (1 - t) * (1 - alpha)) * loss;
  return ops::mean(loss, {axis});
}

LossTerms CategoricalCrossentropy::call(Value y_true, Value y_pred) const {
  const Value t = smoothed_classes(y_true, y_pred, label_smoothing);
  require_same_shape(t, y_pred);
  const int64_t classes = normalize_axis(axis, y_pred.rank(), keras_name);
  if (from_logits && classes == y_pred.rank() - 1) return ops::softmax_cross_entropy(y_pred, t);
  const Value log_p = from_logits ? ops::log_softmax(y_pred, classes)
                                  : ops::log(within_unit(normalized(y_pred, classes)));
  return -ops::sum(t * log_p, {classes});
}

LossTerms CategoricalFocalCrossentropy::call(Value y_true, Value y_pred) const {
  const Value t = smoothed_classes(y_true, y_pred, label_smoothing);
  const Value p = within_unit(normalized(from_logits ? ops::softmax(y_pred, axis) : y_pred, axis));
  const auto size = static_cast<int64_t>(alpha.values().size());
  const Value weight = ops::constant(
      y_pred.block(),
      Tensor::of(y_pred.dtype(), alpha.single() ? Shape{} : Shape{size}, alpha.values()));
  return ops::sum(to_power(1 - p, gamma) * weight * (-t * ops::log(p)), {axis});
}

LossTerms SparseCategoricalCrossentropy::call(Value y_true, Value y_pred) const {
  const int64_t classes = normalize_axis(axis, y_pred.rank(), keras_name);
  const Value labels = class_labels(y_true, y_pred, classes);
  if (!ignore_class) return sparse_surprise(y_pred, labels, from_logits, classes);
  const Value valid =
      ops::not_equal(labels, ops::scalar_like(labels, static_cast<double>(*ignore_class)));
  // Predictions for ignored samples must not matter, even if they are NaN.
  const Value p = ops::where(ops::expand_dims(valid, classes), y_pred, ops::scalar_like(y_pred, 1));
  const Value losses = sparse_surprise(p, labels, from_logits, classes);
  return {ops::where(valid, losses, ops::scalar_like(losses, 0)), valid};
}

void CategoricalGeneralizedCrossEntropy::check() const {
  require(q > 0 && q < 1, "q must be in the interval (0, 1)");
}

LossTerms CategoricalGeneralizedCrossEntropy::call(Value y_true, Value y_pred) const {
  const int64_t classes = y_pred.rank() - 1;
  const Value labels = class_labels(y_true, y_pred, classes);
  return (1 - to_power(at_labels(y_pred, labels, classes), q)) / q;
}

}  // namespace keratin::losses

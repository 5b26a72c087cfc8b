#include "keratin/metrics/iou.h"

#include <algorithm>
#include <numeric>

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::metrics {
namespace {

std::vector<int64_t> all_classes(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// The classes of all positions, as a vector.
Value class_row(Value x, bool sparse, int64_t axis) {
  if (!sparse) x = ops::argmax(x, axis);
  return ops::reshape(cast_to(x, DType::i64), {ops::infer_size});
}

}  // namespace

IoUSettings IoUConfig::settings() const {
  return {num_classes, target_class_ids, ignore_class, sparse_y_true, sparse_y_pred, axis};
}
IoUSettings BinaryIoUConfig::settings() const {
  return {.num_classes = 2, .target_class_ids = target_class_ids, .threshold = threshold};
}
IoUSettings MeanIoUConfig::settings() const {
  return {num_classes, all_classes(num_classes), ignore_class, sparse_y_true, sparse_y_pred, axis};
}
IoUSettings OneHotIoUConfig::settings() const {
  return {num_classes, target_class_ids, ignore_class, false, sparse_y_pred, axis};
}
IoUSettings OneHotMeanIoUConfig::settings() const {
  return {num_classes, all_classes(num_classes), ignore_class, false, sparse_y_pred, axis};
}

void IoUState::start(IoUSettings settings) {
  const auto& ids = settings.target_class_ids;
  require(settings.num_classes > 0 && !ids.empty(), name(),
          ": expected `num_classes` > 0 and at least one target class, got num_classes=",
          settings.num_classes, " and ", ids.size(), " target classes");
  const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
  require(*most < settings.num_classes && *least >= 0, "Target class id ",
          *most < settings.num_classes ? *least : *most, " is out of range, which is [0, ",
          settings.num_classes, ").");
  matrix_ = add_variable("total_confusion_matrix", {settings.num_classes, settings.num_classes});
  settings_ = std::move(settings);
}

void IoUState::update(Tracer& tracer, const Sample& sample) {
  Value y_pred = sample.y_pred;
  if (settings_.threshold) y_pred = cast_to(y_pred, DType::f32) >= *settings_.threshold;
  const Value t = class_row(sample.y_true, settings_.sparse_y_true, settings_.axis);
  const Value p = class_row(y_pred, settings_.sparse_y_pred, settings_.axis);
  require(t.shape() == p.shape(), name(), ": y_true has ", t.shape().count(),
          " labels, y_pred has ", p.shape().count());
  const auto classes = static_cast<double>(settings_.num_classes);
  Value counts = (t >= 0) & (t < classes) & (p >= 0) & (p < classes);
  if (settings_.ignore_class)
    counts = counts &
             ops::not_equal(t, ops::scalar_like(t, static_cast<double>(*settings_.ignore_class)));

  Value weight = ops::full(t.block(), dtype(), t.shape(), 1);
  if (sample.weight) {
    weight = cast_to(*sample.weight, dtype());
    if (weight.rank() > 1) weight = ops::reshape(weight, {ops::infer_size});
    weight = ops::broadcast_to(weight, t.shape().dims());
  }
  // Ignored positions add 0 to the first pair.
  weight = ops::where(counts, weight, ops::scalar_like(weight, 0));
  const Value pair = ops::where(counts, t * classes + p, ops::scalar_like(t, 0));
  const int64_t pairs = settings_.num_classes * settings_.num_classes;
  const Value empty = ops::full(t.block(), dtype(), {pairs}, 0);
  add(tracer, matrix_,
      ops::reshape(ops::scatter_add(empty, pair, weight, 0), matrix_.shape().dims()));
}

Value IoUState::result(Tracer& tracer) {
  const Value matrix = tracer.read(matrix_);
  const int64_t classes = settings_.num_classes;
  const Value row = ops::iota(matrix.block(), DType::i32, {classes, classes}, 0);
  const Value column = ops::iota(matrix.block(), DType::i32, {classes, classes}, 1);
  const Value diagonal = ops::where(ops::equal(row, column), matrix, ops::scalar_like(matrix, 0));
  const Value both = ops::sum(diagonal, {0});
  const Value either = ops::sum(matrix, {0}) + ops::sum(matrix, {1}) - both;
  const auto of_targets = [&](Value x) {
    const auto count = static_cast<int64_t>(settings_.target_class_ids.size());
    const Value ids =
        ops::constant(x.block(), Tensor::of(DType::i32, {count}, settings_.target_class_ids));
    return cast_to(ops::take(x, ids, 0), DType::f32);
  };
  const Value total = of_targets(either);
  const Value occurs = total > 1e-9;
  const Value iou = of_targets(both) / (total + keras_epsilon);
  return ops::sum(ops::where(occurs, iou, ops::scalar_like(iou, 0))) /
         (ops::sum(cast_to(occurs, DType::f32)) + keras_epsilon);
}

}  // namespace keratin::metrics

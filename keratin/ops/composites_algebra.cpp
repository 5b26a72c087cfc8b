#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/positions.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {
namespace {

// How many elements of a vector satisfy `before` with each element of x.
Value count_in(Value x, Value vector, Value (*before)(Value, Value)) {
  const Value found = before(expand_dims(x, -1), vector);
  return sum(cast(found, DType::i32), {-1});
}

Value vector_norm(Value x, double order, const Dims& axes, bool keepdims) {
  const Value size = abs(x);
  if (std::isinf(order)) return order > 0 ? max(size, axes, keepdims) : min(size, axes, keepdims);
  if (order == 0) return sum(cast(not_equal(x, scalar_like(x, 0)), x.dtype()), axes, keepdims);
  if (order == 1) return sum(size, axes, keepdims);
  if (order == 2) return sqrt(sum(square(x), axes, keepdims));
  const Value powers = sum(power(size, scalar_like(x, order)), axes, keepdims);
  return power(powers, scalar_like(x, 1 / order));
}

// The largest (or smallest) sum of sizes along one of the two axes.
Value matrix_norm(Value x, double order, const Dims& axes, bool keepdims) {
  require(std::isinf(order) || std::abs(order) == 1, "norm: order ", order,
          " of a matrix is not supported");
  const int64_t rows = normalize_axis(axes[0], x.rank(), "norm");
  const int64_t columns = normalize_axis(axes[1], x.rank(), "norm");
  const int64_t summed = std::isinf(order) ? columns : rows;
  const int64_t other = std::isinf(order) ? rows : columns;
  const Value sums = sum(abs(x), {summed}, /*keepdims=*/true);
  Value y = order > 0 ? max(sums, {other}, true) : min(sums, {other}, true);
  if (keepdims) return y;
  y = squeeze(y, std::max(summed, other));
  return squeeze(y, std::min(summed, other));
}

Value triangle(Value x, int64_t k, bool lower) {
  const Value row = expand_dims(positions(x, -2), 1), column = positions(x, -1);
  const Value limit = row + static_cast<double>(k);
  const Value inside = lower ? less_equal(column, limit) : greater_equal(column, limit);
  return where(inside, x, scalar_like(x, 0));
}

}  // namespace

Value dot(Value x1, Value x2) {
  if (x1.rank() == 0 || x2.rank() == 0) return multiply(x1, x2);
  return tensordot(x1, x2, {x1.rank() - 1}, {x2.rank() == 1 ? 0 : x2.rank() - 2});
}
Value inner(Value x1, Value x2) {
  if (x1.rank() == 0 || x2.rank() == 0) return multiply(x1, x2);
  return tensordot(x1, x2, {x1.rank() - 1}, {x2.rank() - 1});
}
Value outer(Value x1, Value x2) { return multiply(expand_dims(ravel(x1), 1), ravel(x2)); }
Value vdot(Value x1, Value x2) { return sum(multiply(ravel(x1), ravel(x2))); }
Value tensordot(Value x1, Value x2, int64_t axes) {
  Dims of_x1, of_x2;
  for (int64_t i = 0; i < axes; ++i) {
    of_x1.push_back(i - axes);
    of_x2.push_back(i);
  }
  return tensordot(x1, x2, of_x1, of_x2);
}
Value tensordot(Value x1, Value x2, const Dims& axes_of_x1, const Dims& axes_of_x2) {
  require(axes_of_x1.size() == axes_of_x2.size(), "tensordot: expected as many axes of each, got ",
          axes_of_x1.size(), " and ", axes_of_x2.size());
  const auto labels_of = [](Value x) { return std::string(static_cast<size_t>(x.rank()), ' '); };
  const auto label_at = [](std::string& labels, int64_t axis) -> char& {
    const auto rank = static_cast<int64_t>(labels.size());
    return labels[static_cast<size_t>(normalize_axis(axis, rank, "tensordot"))];
  };
  char next = 'a';
  std::string of_x1 = labels_of(x1), of_x2 = labels_of(x2), out;
  for (size_t i = 0; i < axes_of_x1.size(); ++i)
    label_at(of_x1, axes_of_x1[i]) = label_at(of_x2, axes_of_x2[i]) = next++;
  for (std::string* labels : {&of_x1, &of_x2})
    for (char& label : *labels)
      if (label == ' ') out += label = next++;
  return einsum(of_x1 + "," + of_x2 + "->" + out, {x1, x2});
}
Value norm(Value x, std::optional<double> ord, const Dims& axis, bool keepdims) {
  require(axis.size() <= 2, "norm: expected one or two axes, got ", Listed{axis});
  if (!ord) return vector_norm(x, 2, axis, keepdims);
  const size_t count = axis.empty() ? static_cast<size_t>(x.rank()) : axis.size();
  if (count == 1) return vector_norm(x, *ord, axis, keepdims);
  require(count == 2, "norm: expected one or two axes for order ", *ord, ", got shape ", x.shape());
  return matrix_norm(x, *ord, axis.empty() ? Dims{0, 1} : axis, keepdims);
}
Value normalize(Value x, const Dims& axis, int64_t order, double epsilon) {
  require(order >= 1, "Argument `order` must be an int >= 1. Received: order=", order);
  if (order != 2)
    return x / maximum(norm(x, static_cast<double>(order), axis, /*keepdims=*/true),
                       scalar_like(x, epsilon));
  const Value squares = sum(square(x), axis, /*keepdims=*/true);
  return x * minimum(rsqrt(squares), scalar_like(x, 1 / epsilon));
}
Value tril(Value x, int64_t k) { return triangle(x, k, /*lower=*/true); }
Value triu(Value x, int64_t k) { return triangle(x, k, /*lower=*/false); }
// The two axes go to the end and become one, of which every (columns + 1)th element is taken: at
// most `columns` less the offset, and fewer where the rows end before.
Value diagonal(Value x, int64_t offset, int64_t axis1, int64_t axis2) {
  int64_t row_axis = normalize_axis(axis1, x.rank(), "diagonal");
  int64_t column_axis = normalize_axis(axis2, x.rank(), "diagonal");
  require(row_axis != column_axis, "diagonal: `axis1` and `axis2` must be different, got ",
          row_axis, " and ", column_axis);
  if (x.shape()[column_axis] == unknown) {  // seen from the other side the columns are rows
    std::swap(row_axis, column_axis);
    offset = -offset;
  }
  const int64_t rows = x.shape()[row_axis], columns = x.shape()[column_axis];
  Dims axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis != row_axis && axis != column_axis) axes.push_back(axis);
  Dims shape(axes.size(), keep_size);
  axes.insert(axes.end(), {row_axis, column_axis});
  shape.push_back(rows == unknown || columns == unknown ? infer_size : rows * columns);
  x = reshape(transpose(x, axes), shape);
  if (columns == unknown) return x;  // only the type counts: graphs are traced again
  const int64_t start = offset >= 0 ? std::min(offset, columns) : -offset * columns;
  const int64_t count = std::max<int64_t>(columns - std::max<int64_t>(offset, 0), 0);
  const int64_t limit = count == 0 ? start : start + (count - 1) * (columns + 1) + 1;
  return slice_axis(x, -1, start, limit, columns + 1);
}
// Small integers are added up in int32.
Value trace(Value x, int64_t offset, int64_t axis1, int64_t axis2) {
  const Value elements = diagonal(x, offset, axis1, axis2);
  const bool small =
      x.dtype() == DType::boolean || x.dtype() == DType::i8 || x.dtype() == DType::u8;
  return sum(small ? cast(elements, DType::i32) : elements, {-1});
}

Value digitize(Value x, Value bins) { return count_in(x, bins, greater_equal); }
Value searchsorted(Value sorted_sequence, Value values, std::string_view side) {
  require(sorted_sequence.rank() == 1,
          "searchsorted: the sorted sequence must have one axis, got shape ",
          sorted_sequence.shape());
  return count_in(values, sorted_sequence, side == "right" ? greater_equal : greater);
}
// Nothing is sorted, so unique elements save nothing.
Value isin(Value x1, Value x2, bool /*assume_unique*/, bool invert) {
  const Value found = any(equal(expand_dims(x1, -1), ravel(x2)), {-1});
  return invert ? !found : found;
}
// NaN is less than all others, and a target outside of the classes is never found.
Value in_top_k(Value targets, Value predictions, int64_t k) {
  const Value classes = cast(positions(predictions, -1), targets.dtype());
  const Value chosen = equal(expand_dims(targets, -1), classes);
  const Value zero = scalar_like(predictions, 0);
  const Value mine = sum(where(chosen, predictions, zero), {-1}, /*keepdims=*/true);
  const Value better = greater(predictions, mine) | (isnan(mine) & !isnan(predictions));
  const Value rank = sum(cast(better, DType::i32), {-1});
  return (rank < static_cast<double>(k)) & any(chosen, {-1});
}
// The result has the dtype that holds both, where x2 counts as a float.
Value psnr(Value x1, Value x2, double max_val) {
  Values in = promote({x1, x2});
  for (Value& x : in) x = cast(x, promoted_to_float(x.dtype()));
  const DType dtype = promoted(in[0].dtype(), promoted_to_float(x2.dtype()));
  const Value error = cast(mean(square(in[0] - in[1])), dtype);
  return 20 * std::log10(max_val) - log(error) * (10 / std::log(10.0));
}

namespace {

// What a normalisation computes on: x in the dtype of its statistics, and its parameters.
struct Normalisation {
  Value x;
  DType given;
  Dims axes;

  Normalisation(Value input, const Dims& axis, std::string_view who)
      : x(cast(input, statistics_dtype(input.dtype()))),
        given(input.dtype()),
        axes(normalize_axes(axis, input.rank(), who)) {}
  Value cast_parameter(Value parameter) const {
    return parameter.defined() ? cast(parameter, x.dtype()) : parameter;
  }
  // True if an op takes the parameter as it is.
  bool fits(Value parameter) const {
    return !parameter.defined() || static_cast<size_t>(parameter.rank()) == axes.size();
  }
  // The parameter with axes of size 1 beside those that are normalised.
  Value spread(Value parameter) const {
    parameter = cast_parameter(parameter);
    if (parameter.rank() == x.rank()) return parameter;
    Dims shape(static_cast<size_t>(x.rank()), 1);
    for (const int64_t axis : axes) shape[static_cast<size_t>(axis)] = x.shape()[axis];
    return reshape(parameter, shape);
  }
  Value finish(Value y, Value scale = {}, Value offset = {}) const {
    if (scale.defined()) y = y * spread(scale);
    if (offset.defined()) y = y + spread(offset);
    return cast(y, given);
  }
};

}  // namespace

// The arithmetic is in the dtype that holds all of them, the result in that of x.
Value batch_normalization(Value x, Value mean, Value variance, int64_t axis, Value offset,
                          Value scale, double epsilon) {
  Values in = {x, mean, variance, scale, offset};
  DType dtype = x.dtype();
  if (dtype != DType::boolean) dtype = promoted_to_float(dtype);
  for (const Value v : in)
    if (v.defined()) dtype = promoted(dtype, v.dtype());
  dtype = promoted_to_float(dtype);
  in[0] = cast(x, dtype);
  for (size_t i = 1; i < in.size(); ++i)
    if (in[i].defined()) in[i] = cast(in[i], statistics_dtype(dtype));
  const Value y = batch_norm_inference(in[0], in[1], in[2], in[3], in[4], axis, epsilon);
  return cast(y, x.dtype() == DType::boolean ? dtype : x.dtype());
}
// With rms_scaling neither the mean nor an offset is taken.
Value layer_normalization(Value x, Value gamma, Value beta, const Dims& axis, double epsilon,
                          bool rms_scaling) {
  const Normalisation in(x, axis, "layer_normalization");
  if (rms_scaling) return in.finish(in.x * rsqrt(var(in.x, in.axes, true) + epsilon), gamma);
  if (!in.fits(gamma) || !in.fits(beta))
    return in.finish(layer_norm(in.x, {}, {}, in.axes, epsilon), gamma, beta);
  return in.finish(
      layer_norm(in.x, in.cast_parameter(gamma), in.cast_parameter(beta), in.axes, epsilon));
}
Value rms_normalization(Value x, Value scale, const Dims& axis, double epsilon) {
  const Normalisation in(x, axis, "rms_normalization");
  if (!in.fits(scale)) return in.finish(rms_norm(in.x, {}, in.axes, epsilon), scale);
  return in.finish(rms_norm(in.x, in.cast_parameter(scale), in.axes, epsilon));
}

}  // namespace keratin::ops

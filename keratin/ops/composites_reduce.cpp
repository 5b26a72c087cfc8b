#include <algorithm>
#include <cmath>
#include <limits>

#include "keratin/base/text.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/missing_values.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/sort.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {
namespace {

bool reduces_nothing(Value x, const Dims& axis) {
  const Dims axes = normalize_axes(axis, x.rank(), "reduce");
  return std::any_of(axes.begin(), axes.end(), [&](int64_t i) { return x.shape()[i] == 0; });
}

Value count_numbers(Value x, const Dims& axis, bool keepdims) {
  return sum(cast(!isnan(x), x.dtype()), axis, keepdims);
}
Value nan_where_none(Value y, Value x, const Dims& axis, bool keepdims) {
  const Value none = all(isnan(x), axis, keepdims);
  return where(none, scalar_like(y, std::nan("")), y);
}

constexpr double infinite = std::numeric_limits<double>::infinity();

// Integers: the variance is that about the mean without its fraction.
Values whole_moments(Value x, Value mean_of_x, const Dims& axes, bool keepdims, DType dtype) {
  const Value cut = cast(mean(x, axes, /*keepdims=*/true), dtype);
  const Value squares = square(x - cast(cut, x.dtype()));
  return {cast(mean_of_x, dtype), cast(mean(squares, axes, keepdims), dtype)};
}

// Without an axis, the position in a row of all elements.
Value position(Value x, std::optional<int64_t> axis, bool keepdims,
               Value (*f)(Value, int64_t, bool)) {
  if (axis) return f(x, *axis, keepdims);
  const Value y = f(ravel(x), 0, false);
  return keepdims ? reshape(y, Dims(static_cast<size_t>(x.rank()), 1)) : y;
}

}  // namespace

Value amax(Value x, const Dims& axis, bool keepdims) { return max(x, axis, keepdims); }
Value amin(Value x, const Dims& axis, bool keepdims) { return min(x, axis, keepdims); }
Value max(Value x, const Dims& axis, bool keepdims, Value initial) {
  if (!reduces_nothing(x, axis)) return maximum(max(x, axis, keepdims), initial);
  return sum(x, axis, keepdims) + initial;  // zeros of the right shape
}
Value min(Value x, const Dims& axis, bool keepdims, Value initial) {
  if (!reduces_nothing(x, axis)) return minimum(min(x, axis, keepdims), initial);
  return sum(x, axis, keepdims) + initial;  // zeros of the right shape
}
Value ptp(Value x, const Dims& axis, bool keepdims) {
  return max(x, axis, keepdims) - min(x, axis, keepdims);
}
Value std(Value x, const Dims& axis, bool keepdims) { return sqrt(var(x, axis, keepdims)); }
Value count_nonzero(Value x, const Dims& axis) {
  return sum(cast(cast(x, DType::boolean), DType::i32), axis);
}
Value average(Value x, const Dims& axis, Value weights) {
  if (!weights.defined()) return mean(x, axis);
  require(weights.rank() == x.rank() || (weights.rank() == 1 && axis.size() == 1),
          "average: `weights` must have the shape of `x`, or one axis where `axis` names one, got "
          "shapes ",
          weights.shape(), " and ", x.shape());
  if (weights.rank() == 1 && x.rank() > 1) {
    Dims shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(normalize_axis(axis[0], x.rank(), "average"))] = infer_size;
    weights = reshape(weights, shape);
  }
  return sum(x * weights, axis) / sum(weights, axis);
}
// Of halves, both stay within what float16 holds.
Values moments(Value x, const Dims& axes, bool keepdims) {
  const DType given = x.dtype(), dtype = promoted_to_float(given);
  x = cast(x, statistics_dtype(dtype));
  Values results = {mean(x, axes, keepdims), var(x, axes, keepdims)};
  constexpr double largest_half = 65504;
  if (x.dtype() != dtype)
    for (Value& y : results) y = cast(clip(y, -largest_half, largest_half), dtype);
  if (given == DType::i32 || given == DType::i64)
    return whole_moments(x, results[0], axes, keepdims, given);
  return results;
}
Value argmax(Value x, std::optional<int64_t> axis, bool keepdims) {
  return position(x, axis, keepdims, argmax);
}
Value argmin(Value x, std::optional<int64_t> axis, bool keepdims) {
  return position(x, axis, keepdims, argmin);
}

Value nanmax(Value x, const Dims& axis, bool keepdims) {
  if (!is_float(x.dtype())) return max(x, axis, keepdims);
  return nan_where_none(max(with_nan_replaced(x, -infinite), axis, keepdims), x, axis, keepdims);
}
Value nanmin(Value x, const Dims& axis, bool keepdims) {
  if (!is_float(x.dtype())) return min(x, axis, keepdims);
  return nan_where_none(min(with_nan_replaced(x, infinite), axis, keepdims), x, axis, keepdims);
}
Value nansum(Value x, const Dims& axis, bool keepdims) {
  return sum(with_nan_replaced(x, 0), axis, keepdims);
}
Value nanprod(Value x, const Dims& axis, bool keepdims) {
  return prod(with_nan_replaced(x, 1), axis, keepdims);
}
Value nanmean(Value x, const Dims& axis, bool keepdims) {
  return nansum(x, axis, keepdims) / count_numbers(x, axis, keepdims);
}
Value nanvar(Value x, const Dims& axis, bool keepdims) {
  return nanmean(square(x - nanmean(x, axis, /*keepdims=*/true)), axis, keepdims);
}
Value nanstd(Value x, const Dims& axis, bool keepdims) { return sqrt(nanvar(x, axis, keepdims)); }

namespace {

Value cumulate(Value x, std::optional<int64_t> axis, std::optional<DType> dtype,
               Value (*f)(Value, CumulativeAttrs)) {
  x = cast(x, dtype.value_or(x.dtype()));
  if (x.dtype() == DType::boolean) x = cast(x, DType::i32);
  return f(axis ? x : ravel(x), {.axis = axis.value_or(0)});
}

}  // namespace

Value cumsum(Value x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumulate(x, axis, dtype, cumsum);
}
Value cumprod(Value x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumulate(x, axis, dtype, cumprod);
}
Value cumsum(Value x, int64_t axis, std::optional<DType> dtype) {
  return cumsum(x, std::optional(axis), dtype);
}
Value cumprod(Value x, int64_t axis, std::optional<DType> dtype) {
  return cumprod(x, std::optional(axis), dtype);
}
Value nancumsum(Value x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumsum(with_nan_replaced(x, 0), axis, dtype);
}
Value nancumprod(Value x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumprod(with_nan_replaced(x, 1), axis, dtype);
}
Value sort(Value x, std::optional<int64_t> axis) {
  return sort(axis ? x : ravel(x), SortAttrs{.axis = axis.value_or(0)});
}
Value argsort(Value x, std::optional<int64_t> axis) {
  return argsort(axis ? x : ravel(x), SortAttrs{.axis = axis.value_or(0)});
}
Value sort(Value x, int64_t axis) { return sort(x, std::optional(axis)); }
Value argsort(Value x, int64_t axis) { return argsort(x, std::optional(axis)); }
Value diff(Value x, int64_t n, int64_t axis) {
  axis = normalize_axis(axis, x.rank(), "diff");
  const auto minus = x.dtype() == DType::boolean ? not_equal : subtract;
  for (int64_t i = 0; i < n; ++i)
    x = minus(slice_axis(x, axis, 1, to_end), slice_axis(x, axis, 0, -1));
  return x;
}

}  // namespace keratin::ops

// Keras's reductions: over all axes (None), over some, or over none (an empty tuple).
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/norm.h"

namespace keratin::rules {
namespace {

// What a reduction starts from, in the dtype: integers take a float without its fraction.
Value initial_value(const C& c, const Json& initial, DType dtype) {
  const bool exact = is_float(dtype) || !initial.is_number() || initial.is_int();
  if (exact) return ops::constant(c.block(), tensor_from_json(initial, dtype));
  return ops::cast(ops::constant(c.block(), tensor_from_json(initial, DType::f64)), dtype);
}

bool has_no_elements(const Reduction& r) {
  for (const int64_t axis : normalize_axes(r.axes, r.x.rank(), "reduce"))
    if (r.x.shape()[axis] == 0) return true;
  return false;
}

// The largest or smallest element, and of `initial` if there is one: then there may be no element.
// Bools are ordered as numbers are.
Value extremum(const C& c, Reduce f, Binary choose) {
  const bool of_bools = c.tensor(0).dtype() == DType::boolean;
  const Reduction r = reduction(c, of_bools ? ops::cast(c.tensor(0), DType::u8) : c.tensor(0));
  const auto result = [&](Value y) { return of_bools ? as_bool(y) : y; };
  const Json& initial = c.option("initial");
  if (initial.is_null()) return result(f(r.x, r.axes, r.keepdims));
  Value start = initial_value(c, initial, of_bools ? DType::f32 : r.x.dtype());
  if (of_bools) start = ops::cast(as_bool(start), DType::u8);
  if (!has_no_elements(r)) return result(choose(f(r.x, r.axes, r.keepdims), start));
  return result(ops::sum(r.x, r.axes, r.keepdims) + start);  // zeros of the right shape
}

// -0.0 counts as less than 0.0: it is the next number below.
Value with_ordered_zeros(Value x) {
  if (!is_float(x.dtype())) return x.dtype() == DType::boolean ? cast_to(x, DType::u8) : x;
  x = ops::cast(x, ops::statistics_dtype(x.dtype()));
  const double tiny = x.dtype() == DType::f64 ? std::numeric_limits<double>::min()
                                              : std::numeric_limits<float>::min();
  const Value zero = ops::scalar_like(x, 0);
  const Value negative = ops::equal(x, zero) & (ops::reciprocal(x) < 0.0);
  return ops::where(negative, ops::scalar_like(x, -tiny), x);
}

// Reductions that leave out NaN.
Value count_numbers(Value x, const Dims& axes, bool keepdims) {
  return ops::sum(ops::cast(!ops::isnan(x), x.dtype()), axes, keepdims);
}
Value nan_where_none(Value y, Value x, const Dims& axes, bool keepdims) {
  const Value none = ops::all(ops::isnan(x), axes, keepdims);
  return ops::where(none, ops::scalar_like(y, std::nan("")), y);
}
constexpr double infinite = std::numeric_limits<double>::infinity();
Value max_of_numbers(Value x, const Dims& axes, bool keepdims) {
  if (!is_float(x.dtype())) return ops::max(x, axes, keepdims);
  return nan_where_none(ops::max(instead_of_nan(x, -infinite), axes, keepdims), x, axes, keepdims);
}
Value min_of_numbers(Value x, const Dims& axes, bool keepdims) {
  if (!is_float(x.dtype())) return ops::min(x, axes, keepdims);
  return nan_where_none(ops::min(instead_of_nan(x, infinite), axes, keepdims), x, axes, keepdims);
}

}  // namespace

Reduction reduction(const C& c, Value x, std::string_view key) {
  const Json& axis = c.option(key);
  if (axis.is_array() && axis.size() == 0) return {ops::expand_dims(x, -1), {-1}, false};
  return {x, c.dims(key), c.flag("keepdims")};
}

Results max(const C& c) { return extremum(c, ops::max, ops::maximum); }
Results min(const C& c) { return extremum(c, ops::min, ops::minimum); }

Results position(const C& c, Value (*f)(Value, int64_t, bool)) {
  const Value x = with_ordered_zeros(c.tensor(0));
  const auto axis = c.integer("axis");
  const bool keepdims = c.flag("keepdims");
  Value y = axis ? f(x, *axis, keepdims) : f(flat(x), 0, false);
  if (!axis && keepdims) y = ops::reshape(y, Dims(static_cast<size_t>(x.rank()), 1));
  return ops::cast(y, DType::i32);
}

Value instead_of_nan(Value x, double value) {
  if (!is_float(x.dtype())) return x;
  return ops::where(ops::isnan(x), ops::scalar_like(x, value), x);
}
Value nansum(Value x, const Dims& axes, bool keepdims) {
  return ops::sum(instead_of_nan(x, 0), axes, keepdims);
}
Value nanprod(Value x, const Dims& axes, bool keepdims) {
  return ops::prod(instead_of_nan(x, 1), axes, keepdims);
}
Value nanmean(Value x, const Dims& axes, bool keepdims) {
  return nansum(x, axes, keepdims) / count_numbers(x, axes, keepdims);
}
Value nanvar(Value x, const Dims& axes, bool keepdims) {
  return nanmean(ops::square(x - nanmean(x, axes, /*keepdims=*/true)), axes, keepdims);
}
Value nanstd(Value x, const Dims& axes, bool keepdims) {
  return ops::sqrt(nanvar(x, axes, keepdims));
}
Results nanmax(const C& c) { return extremum(c, max_of_numbers, ops::maximum); }
Results nanmin(const C& c) { return extremum(c, min_of_numbers, ops::minimum); }

// Of integers both are integers: the variance is that about the mean that was cut off.
Values whole_moments(Value x, Value mean, const Dims& axes, bool keepdims, DType dtype) {
  mean = ops::cast(mean, dtype);
  const Value wide = ops::cast(ops::mean(x, axes, /*keepdims=*/true), dtype);
  const Value squares = ops::square(x - ops::cast(wide, x.dtype()));
  return {mean, ops::cast(ops::mean(squares, axes, keepdims), dtype)};
}

// Of halves, both stay within what float16 holds.
Results moments(const C& c) {
  const Value given = c.float_tensor(0);
  const auto [x, axes, keepdims] =
      reduction(c, ops::cast(given, ops::statistics_dtype(given.dtype())), "axes");
  Values results = {ops::mean(x, axes, keepdims), ops::var(x, axes, keepdims)};
  constexpr double largest_half = 65504;
  if (x.dtype() != given.dtype())
    for (Value& y : results)
      y = ops::cast(ops::clip(y, -largest_half, largest_half), given.dtype());
  const DType own = c.tensor(0).dtype();
  if (own == DType::i32 || own == DType::i64)
    return whole_moments(x, results[0], axes, keepdims, own);
  return results;
}
// Weights of one axis may be a vector along it.
Results average(const C& c) {
  const Value weights = c.tensor(1, "weights");
  if (!weights.defined()) {
    const Reduction r = reduction(c, c.float_tensor(0));
    return ops::mean(r.x, r.axes);
  }
  const Values in = ops::promote({c.tensor(0), weights});
  const Value x = as_float(in[0]);
  Value w = as_float(in[1]);
  const Dims axes = c.dims("axis");
  require(w.rank() == x.rank() || (w.rank() == 1 && axes.size() == 1), c.who(),
          ": `weights` must have the shape of `x`, or one axis where `axis` names one, got shapes ",
          keras_shape(w.shape()), " and ", keras_shape(x.shape()));
  if (w.rank() == 1 && x.rank() > 1 && axes.size() == 1) {
    Dims shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(from_front(c, axes[0], x.rank()))] = ops::infer_size;
    w = ops::reshape(w, shape);
  }
  const Reduction products = reduction(c, x * w), sizes = reduction(c, w);
  return ops::sum(products.x, products.axes) / ops::sum(sizes.x, sizes.axes);
}
Results count_nonzero(const C& c) {
  const Reduction r = reduction(c, ops::cast(as_bool(c.tensor(0)), DType::i32));
  return ops::sum(r.x, r.axes);
}

Results softmax_over(const C& c, Value (*f)(Value, const Dims&)) {
  const Value x = c.float_tensor(0);
  const Json& axis = c.option("axis");
  if (x.shape().known() && x.shape().count() == 0) return x;
  if (axis.is_array() && axis.size() == 0)
    return ops::squeeze(f(ops::expand_dims(x, -1), {-1}), -1);
  return f(x, c.dims("axis"));
}

}  // namespace keratin::rules

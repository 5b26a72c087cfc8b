// Keras's reductions, over all axes (None), some, or none (an empty tuple).
#include <cmath>
#include <limits>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation_rules.h"

namespace keratin::rules {
namespace {

// The initial element of a reduction, in its dtype. Integers drop the fraction of a float.
Value initial_value(const C& c, const Json& initial, DType dtype) {
  const bool exact = is_float(dtype) || !initial.is_number() || initial.is_int();
  if (exact) return ops::constant(c.block(), tensor_from_json(initial, dtype));
  return ops::cast(ops::constant(c.block(), tensor_from_json(initial, DType::f64)), dtype);
}

// The largest or smallest of the elements and of `initial`, if that is given. False counts as 0,
// true as 1.
Value extremum(const C& c, Reduce f, Value (*from)(Value, const Dims&, bool, Value)) {
  const bool of_bools = c.tensor(0).dtype() == DType::boolean;
  const Reduction r = reduction(c, of_bools ? ops::cast(c.tensor(0), DType::u8) : c.tensor(0));
  const auto result = [&](Value y) { return of_bools ? as_bool(y) : y; };
  const Json& initial = c.option("initial");
  if (initial.is_null()) return result(f(r.x, r.axes, r.keepdims));
  Value start = initial_value(c, initial, of_bools ? DType::f32 : r.x.dtype());
  if (of_bools) start = ops::cast(as_bool(start), DType::u8);
  return result(from(r.x, r.axes, r.keepdims, start));
}

// Makes -0.0 less than 0.0 by replacing it with the largest negative number.
Value with_ordered_zeros(Value x) {
  if (!is_float(x.dtype())) return x.dtype() == DType::boolean ? ops::cast(x, DType::u8) : x;
  x = ops::cast(x, ops::statistics_dtype(x.dtype()));
  const double tiny = x.dtype() == DType::f64 ? std::numeric_limits<double>::min()
                                              : std::numeric_limits<float>::min();
  const Value zero = ops::scalar_like(x, 0);
  const Value negative = ops::equal(x, zero) & (ops::reciprocal(x) < 0.0);
  return ops::where(negative, ops::scalar_like(x, -tiny), x);
}

}  // namespace

bool lists_no_axes(const C& c, std::string_view key) {
  const Json& axis = c.option(key);
  return axis.is_array() && axis.size() == 0;
}

Reduction reduction(const C& c, Value x, std::string_view key) {
  if (lists_no_axes(c, key)) return {ops::expand_dims(x, -1), {-1}, false};
  return {x, c.dims(key), c.flag("keepdims")};
}

Results max(const C& c) { return extremum(c, ops::max, ops::max); }
Results min(const C& c) { return extremum(c, ops::min, ops::min); }
Results nanmax(const C& c) { return extremum(c, ops::nanmax, ops::max); }
Results nanmin(const C& c) { return extremum(c, ops::nanmin, ops::min); }

Results position(const C& c, Value (*f)(Value, std::optional<int64_t>, bool)) {
  const Value x = with_ordered_zeros(c.tensor(0));
  return ops::cast(f(x, c.integer("axis"), c.flag("keepdims")), DType::i32);
}

Results moments(const C& c) {
  const Reduction r = reduction(c, c.tensor(0), "axes");
  return ops::moments(r.x, r.axes, r.keepdims);
}
Results average(const C& c) {
  const Value weights = c.tensor(1, "weights");
  if (!weights.defined()) {
    const Reduction r = reduction(c, c.float_tensor(0));
    return ops::average(r.x, r.axes);
  }
  const Values in = ops::promote({c.tensor(0), weights});
  const Value x = as_float(in[0]), w = as_float(in[1]);
  if (!lists_no_axes(c)) return ops::average(x, c.dims("axis"), w);
  return ops::divide(ops::multiply(x, w), w);
}
Results count_nonzero(const C& c) {
  const Reduction r = reduction(c, c.tensor(0));
  return ops::count_nonzero(r.x, r.axes);
}

Results softmax_over(const C& c, Value (*f)(Value, const Dims&)) {
  const Value x = c.float_tensor(0);
  if (x.shape().known() && x.shape().count() == 0) return x;
  if (lists_no_axes(c)) return ops::squeeze(f(ops::expand_dims(x, -1), {-1}), -1);
  return f(x, c.dims("axis"));
}

}  // namespace keratin::rules

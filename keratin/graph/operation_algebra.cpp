#include <cmath>
#include <limits>

#include "keratin/base/text.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/ops/norm.h"

namespace keratin::rules {
namespace {

Dims axes_from_front(const C& c, const Json& json, int64_t rank) {
  Dims axes = Sizes::from_json(json).dims();
  for (int64_t& axis : axes) axis = from_front(c, axis, rank);
  return axes;
}

// Sums over these axes of a and b, pair by pair; the others stay, first those of a.
Value contract(Value a, Value b, const Dims& of_a, const Dims& of_b) {
  char next = 'a';
  std::string in_a(static_cast<size_t>(a.rank()), ' '), in_b(static_cast<size_t>(b.rank()), ' ');
  for (size_t i = 0; i < of_a.size(); ++i)
    in_a[static_cast<size_t>(of_a[i])] = in_b[static_cast<size_t>(of_b[i])] = next++;
  std::string out;
  for (std::string* labels : {&in_a, &in_b})
    for (char& label : *labels)
      if (label == ' ') out += label = next++;
  return ops::einsum(in_a + "," + in_b + "->" + out, {a, b});
}

Value triangle(const C& c, bool lower) {
  const Value x = c.tensor(0);
  const auto k = static_cast<int>(c.integer("k").value_or(0));
  const Value row = ops::expand_dims(ops::positions(x, -2), 1), column = ops::positions(x, -1);
  const Value limit = row + k;
  const Value inside = lower ? ops::less_equal(column, limit) : ops::greater_equal(column, limit);
  return ops::where(inside, x, ops::scalar_like(x, 0));
}

// How many of a vector's elements satisfy `before` with each element of x.
Value count_in(Value x, Value vector, Binary before) {
  const Value found = before(ops::expand_dims(x, -1), vector);
  return ops::sum(ops::cast(found, DType::i32), {-1});
}

Value length(Value x, double order, const Dims& axes, bool keepdims) {
  const Value size = ops::abs(x);
  if (std::isinf(order))
    return order > 0 ? ops::max(size, axes, keepdims) : ops::min(size, axes, keepdims);
  if (order == 0)
    return ops::sum(cast_to(ops::not_equal(x, ops::scalar_like(x, 0)), x.dtype()), axes, keepdims);
  if (order == 1) return ops::sum(size, axes, keepdims);
  if (order == 2) return ops::sqrt(ops::sum(ops::square(x), axes, keepdims));
  const Value powers = ops::sum(ops::power(size, ops::scalar_like(x, order)), axes, keepdims);
  return ops::power(powers, ops::scalar_like(x, 1 / order));
}

// The largest (or smallest) sum of sizes along one of the two axes.
Value matrix_norm(const C& c, Value x, double order, Dims axes, bool keepdims) {
  require(std::isinf(order) || std::abs(order) == 1, c.who(), ": order ", order,
          " of a matrix is not supported");
  for (int64_t& axis : axes) axis = from_front(c, axis, x.rank());
  const int64_t summed = std::isinf(order) ? axes[1] : axes[0];
  const int64_t other = std::isinf(order) ? axes[0] : axes[1];
  const Value sums = ops::sum(ops::abs(x), {summed}, /*keepdims=*/true);
  Value y = order > 0 ? ops::max(sums, {other}, true) : ops::min(sums, {other}, true);
  if (keepdims) return y;
  y = ops::squeeze(y, std::max(summed, other));
  return ops::squeeze(y, std::min(summed, other));
}

// Vectors count as one row or one column.
Value matmul_of(Value a, Value b) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  Value y = ops::matmul(row ? ops::expand_dims(a, 0) : a, column ? ops::expand_dims(b, 1) : b);
  if (column) y = ops::squeeze(y, -1);
  if (row) y = ops::squeeze(y, column ? -1 : -2);
  return y;
}

constexpr double keras_epsilon = 1e-7;

}  // namespace

DType wide_integer(DType) { return DType::i64; }
// Is one of two arguments a whole number outside of the integers that the other one holds?
bool has_wide_number(const C& c) {
  for (const size_t i : {0, 1}) {
    const Tree<Traced>&number = c.argument(i), &tensor = c.argument(1 - i);
    if (!number.is_constant() || !number.constant().is_int() || !tensor.is_leaf()) continue;
    const DType dtype = tensor.leaf().value.dtype();
    if (is_float(dtype) || dtype == DType::boolean || dtype == DType::i64) continue;
    const int64_t value = number.constant().as_int();
    const bool fits = dispatch(dtype, [&](auto tag) {
      using Limits = std::numeric_limits<compute_t<typename decltype(tag)::type>>;
      return static_cast<double>(value) >= static_cast<double>(Limits::lowest()) &&
             static_cast<double>(value) <= static_cast<double>(Limits::max());
    });
    if (!fits) return true;
  }
  return false;
}

Value numpy_dot(Value a, Value b) {
  if (a.rank() == 0 || b.rank() == 0) return ops::multiply(a, b);
  return contract(a, b, {a.rank() - 1}, {b.rank() == 1 ? 0 : b.rank() - 2});
}
Value inner(Value a, Value b) {
  if (a.rank() == 0 || b.rank() == 0) return ops::multiply(a, b);
  return contract(a, b, {a.rank() - 1}, {b.rank() - 1});
}
Value outer(Value a, Value b) { return ops::multiply(ops::expand_dims(flat(a), 1), flat(b)); }
Value vdot(Value a, Value b) { return ops::sum(ops::multiply(flat(a), flat(b))); }
Results tensordot(const C& c) {
  const Values in = c.operands(0, 2);
  const Json& axes = c.option("axes");
  Dims of_a, of_b;
  if (axes.is_array()) {
    of_a = axes_from_front(c, axes[0], in[0].rank());
    of_b = axes_from_front(c, axes[1], in[1].rank());
  } else {
    const int64_t count = axes.is_null() ? 2 : axes.as_int();
    for (int64_t i = 0; i < count; ++i) {
      of_a.push_back(from_front(c, i - count, in[0].rank()));
      of_b.push_back(from_front(c, i, in[1].rank()));
    }
  }
  require(of_a.size() == of_b.size(), c.who(), ": expected as many axes of each, got ", axes);
  const Value y = contract(as_number(in[0]), as_number(in[1]), of_a, of_b);
  return in[0].dtype() == DType::boolean ? as_bool(y) : y;
}

namespace {

// The factors of products that are added up: int8 alone is added up in int32, and so are bools,
// where the sum tells whether one of the products is true.
Values factors(const C& c) {
  Values in = c.operands();
  bool small = true;
  for (size_t i = 0; i < in.size(); ++i) small = small && c.tensor(i).dtype() == DType::i8;
  for (Value& x : in)
    if (small || x.dtype() == DType::boolean) x = ops::cast(x, DType::i32);
  return in;
}

Value sum_of_products(const C& c, Value sum) {
  for (size_t i = 0; i < c.argument_count(); ++i)
    if (c.tensor(i).dtype() != DType::boolean) return sum;
  return as_bool(sum);
}

}  // namespace

Results matmul(const C& c) {
  const Values in = factors(c);
  return sum_of_products(c, matmul_of(in[0], in[1]));
}
Results einsum(const C& c) {
  return sum_of_products(c, ops::einsum(c.option("subscripts").as_string(), factors(c)));
}

Results tril(const C& c) { return triangle(c, /*lower=*/true); }
Results triu(const C& c) { return triangle(c, /*lower=*/false); }
Results trace(const C& c) {
  const Value elements = diagonal(c);
  return ops::sum(as_sum(elements), {-1});
}

namespace {

// The norm of that order (null: the Euclidean one) over the axes that the call names.
Value norm_of(const C& c, Value x, const Json& order, bool keepdims) {
  const Json& axis = c.option("axis");
  require(!axis.is_array() || axis.size() > 0, c.who(), ": expected one or two axes, got ", axis);
  const Dims axes = c.dims("axis");
  require(axes.size() <= 2, c.who(), ": expected one or two axes, got ", axis);
  const size_t count = axis.is_null() ? static_cast<size_t>(x.rank()) : axes.size();
  require(order != Json("fro") || count == 2, c.who(),
          ": order 'fro' is one of matrices, of two axes");
  if (order.is_null() || order == Json("fro")) return length(x, 2, axes, keepdims);
  require(order.is_number(), c.who(), ": order ", order, " is not supported");
  if (count == 1) return length(x, order.as_double(), axes, keepdims);
  require(count == 2, c.who(), ": expected one or two axes, got ", axis);
  return matrix_norm(c, x, order.as_double(), axis.is_null() ? Dims{0, 1} : axes, keepdims);
}

}  // namespace

Results norm(const C& c) {
  return norm_of(c, c.float_tensor(0), c.option("ord"), c.flag("keepdims"));
}
// x / |x|, with |x| at least epsilon
Results normalize(const C& c) {
  Value x = c.float_tensor(0);
  if (x.rank() == 0) x = ops::expand_dims(x, 0);
  const Json& order = c.option("order");
  require(order.is_null() || (order.is_int() && order.as_int() >= 1),
          "Argument `order` must be an int >= 1. Received: order=", order);
  const double epsilon = c.number("epsilon", keras_epsilon);
  if (!order.is_null() && order.as_int() != 2)
    return x / ops::maximum(norm_of(c, x, order, /*keepdims=*/true), ops::scalar_like(x, epsilon));
  Value squares = ops::square(x);
  if (const Json& axis = c.option("axis"); !axis.is_array() || axis.size() > 0)
    squares = ops::sum(squares, c.dims("axis"), /*keepdims=*/true);
  return x * ops::minimum(ops::rsqrt(squares), ops::scalar_like(x, 1 / epsilon));
}

namespace {

// The axes of a normalisation. Where it has none, each element is a row of its own.
struct NormalAxes {
  Value x;
  Dims axes;
  bool none;

  explicit NormalAxes(const C& c) : x(c.float_tensor(0)), axes(c.dims("axis")) {
    const Json& axis = c.option("axis");
    none = axis.is_array() && axis.size() == 0;
    if (axis.is_null()) axes = {-1};
    x = ops::cast(x, ops::statistics_dtype(x.dtype()));
    axes = none ? Dims{x.rank()} : normalize_axes(axes, x.rank(), c.who());
    if (none) x = ops::expand_dims(x, -1);
  }
  Value cast(Value parameter) const {
    return parameter.defined() ? cast_to(parameter, x.dtype()) : parameter;
  }
  // A parameter has the sizes of the axes, or as many axes as x.
  Value spread(Value parameter) const {
    parameter = cast(parameter);
    if (none || parameter.rank() == x.rank()) return parameter;
    Dims shape(static_cast<size_t>(x.rank()), 1);
    for (const int64_t axis : axes) shape[static_cast<size_t>(axis)] = x.shape()[axis];
    return ops::reshape(parameter, shape);
  }
  // Does an op take the parameter as it is?
  bool fits(Value parameter) const {
    return !parameter.defined() || (!none && static_cast<size_t>(parameter.rank()) == axes.size());
  }
  // A result in the dtype of the call's input, integers too.
  Value finish(const C& c, Value y, Value scale = {}, Value offset = {}) const {
    if (none) y = ops::squeeze(y, -1);
    if (scale.defined()) y = y * spread(scale);
    if (offset.defined()) y = y + spread(offset);
    return cast_to(y, c.tensor(0).dtype());
  }
};

}  // namespace

// With rms_scaling x / √(variance + epsilon): neither the mean nor an offset is taken.
Results layer_norm(const C& c) {
  const NormalAxes in(c);
  const double epsilon = c.number("epsilon", keras_epsilon);
  const Value gamma = c.tensor(1, "gamma"), beta = c.tensor(2, "beta");
  if (!c.flag("rms_scaling") && in.fits(gamma) && in.fits(beta))
    return in.finish(c, ops::layer_norm(in.x, in.cast(gamma), in.cast(beta), in.axes, epsilon));
  if (!c.flag("rms_scaling"))
    return in.finish(c, ops::layer_norm(in.x, {}, {}, in.axes, epsilon), gamma, beta);
  const Value inverse = ops::rsqrt(ops::var(in.x, in.axes, true) + epsilon);
  return in.finish(c, in.x * inverse, gamma, {});
}
Results rms_norm(const C& c) {
  const NormalAxes in(c);
  const double epsilon = c.number("epsilon", keras_epsilon);
  const Value scale = c.tensor(1, "scale");
  if (in.fits(scale)) return in.finish(c, ops::rms_norm(in.x, in.cast(scale), in.axes, epsilon));
  return in.finish(c, ops::rms_norm(in.x, {}, in.axes, epsilon), scale);
}
// In the dtype that holds all of them, and the result in that of x.
Results batch_norm(const C& c) {
  Values in = {c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(4, "scale"), c.tensor(3, "offset")};
  DType dtype = in[0].dtype();
  if (dtype != DType::boolean) dtype = ops::promoted_to_float(dtype);
  for (const Value v : in)
    if (v.defined()) dtype = ops::promoted(dtype, v.dtype());
  dtype = ops::promoted_to_float(dtype);
  const DType own = in[0].dtype() == DType::boolean ? dtype : in[0].dtype();
  in[0] = cast_to(in[0], dtype);
  for (size_t i = 1; i < in.size(); ++i)
    if (in[i].defined()) in[i] = cast_to(in[i], ops::statistics_dtype(dtype));
  return cast_to(ops::batch_norm_inference(in[0], in[1], in[2], in[3], in[4],
                                           c.option("axis").as_int(), c.number("epsilon", 1e-3)),
                 own);
}
// The largest value counts as a number of the second one's dtype.
Results psnr(const C& c) {
  const Values in = c.operands(0, 2, ops::promoted_to_float);
  const DType dtype = ops::promoted(in[0].dtype(), ops::promoted_to_float(c.tensor(1).dtype()));
  const Value error = cast_to(ops::mean(ops::square(in[0] - in[1])), dtype);
  return 20 * std::log10(c.number("max_val", 1)) - ops::log(error) * (10 / std::log(10.0));
}

Results diff(const C& c) {
  Value x = c.tensor(0);
  const int64_t axis = from_front(c, c.integer("axis").value_or(-1), x.rank());
  const auto minus = x.dtype() == DType::boolean ? ops::not_equal : ops::subtract;
  for (int64_t i = 0; i < c.integer("n").value_or(1); ++i)
    x = minus(ops::slice_axis(x, axis, 1, ops::to_end), ops::slice_axis(x, axis, 0, -1));
  return x;
}
Results digitize(const C& c) {
  const Values in = c.operands(0, 2);
  return count_in(in[0], in[1], ops::greater_equal);
}
Results search_sorted(const C& c) {
  const Values in = c.operands(0, 2);
  require(in[0].rank() == 1, c.who(), ": the sorted sequence must have one axis, got shape ",
          keras_shape(in[0].shape()));
  const bool right = c.option("side") == Json("right");
  return count_in(in[1], in[0], right ? ops::greater_equal : ops::greater);
}
Results is_in(const C& c) {
  const Values in = c.operands(0, 2);
  const Value found = ops::any(ops::equal(ops::expand_dims(in[0], -1), flat(in[1])), {-1});
  return c.flag("invert") ? !found : found;
}
// Is the prediction of the target among the k largest? NaN is less than all others, and a target
// outside of the classes never is.
Results in_top_k(const C& c) {
  const Value target = as_index(c.tensor(0)), x = as_float(c.tensor(1));
  const Value classes = ops::cast(ops::positions(x, -1), target.dtype());
  const Value chosen = ops::equal(ops::expand_dims(target, -1), classes);
  const Value zero = ops::scalar_like(x, 0);
  const Value mine = ops::sum(ops::where(chosen, x, zero), {-1}, /*keepdims=*/true);
  const Value better = ops::greater(x, mine) | (ops::isnan(mine) & !ops::isnan(x));
  const Value rank = ops::sum(ops::cast(better, DType::i32), {-1});
  return (rank < c.number("k", 1)) & ops::any(chosen, {-1});
}

}  // namespace keratin::rules

#include <limits>

#include "keratin/base/text.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/tensor/elements.h"

namespace keratin::rules {
namespace {

// The operands of sums of products. Operands that are all int8 are summed in int32, and so are
// bools: their sum says whether one of the products is true.
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

constexpr double keras_epsilon = 1e-7;

}  // namespace

DType wide_integer(DType) { return DType::i64; }
// True if one of two arguments is an integer that the integer dtype of the other cannot hold.
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

Results tensordot(const C& c) {
  const Values in = c.operands(0, 2);
  const Value a = as_number(in[0]), b = as_number(in[1]);
  const Json& axes = c.option("axes");
  const Value y = axes.is_array()
                      ? ops::tensordot(a, b, dims_of(axes[0]), dims_of(axes[1]))
                      : ops::tensordot(a, b, axes.is_null() ? int64_t{2} : axes.as_int());
  return in[0].dtype() == DType::boolean ? as_bool(y) : y;
}
Results matmul(const C& c) {
  const Values in = factors(c);
  return sum_of_products(c, ops::matmul(in[0], in[1]));
}
Results einsum(const C& c) {
  return sum_of_products(c, ops::einsum(c.option("subscripts").as_string(), factors(c)));
}

// The order is a number, null (the Euclidean norm), or 'fro' (the same, of matrices).
Results norm(const C& c) {
  const Value x = c.float_tensor(0);
  const Json &axis = c.option("axis"), &order = c.option("ord");
  require(!lists_no_axes(c), "norm: expected one or two axes, got ", axis);
  const Dims axes = c.dims("axis");
  require(axes.size() <= 2, "norm: expected one or two axes, got ", axis);
  const bool frobenius = order == Json("fro");
  const size_t count = axis.is_null() ? static_cast<size_t>(x.rank()) : axes.size();
  require(!frobenius || count == 2, "norm: order 'fro' is one of matrices, of two axes");
  require(order.is_null() || frobenius || order.is_number(), "norm: order ", order,
          " is not supported");
  const auto number = order.is_number() ? std::optional(order.as_double()) : std::nullopt;
  return ops::norm(x, number, axes, c.flag("keepdims"));
}
Results normalize(const C& c) {
  Value x = c.float_tensor(0);
  if (x.rank() == 0) x = ops::expand_dims(x, 0);
  const Json& order = c.option("order");
  require(order.is_null() || order.is_int(),
          "Argument `order` must be an int >= 1. Received: order=", order);
  const int64_t whole = order.is_null() ? 2 : order.as_int();
  const double epsilon = c.number("epsilon", keras_epsilon);
  if (!lists_no_axes(c)) return ops::normalize(x, c.dims("axis"), whole, epsilon);
  require(whole == 2, "norm: expected one or two axes, got ", c.option("axis"));
  return ops::squeeze(ops::normalize(ops::expand_dims(x, -1), {-1}, whole, epsilon), -1);
}

namespace {

// Calls a normalisation. With an empty list of axes, each element is normalised by itself.
template <class F>
Value normalized(const C& c, const F& f, Values parameters) {
  Value x = c.tensor(0);
  const Dims axes = c.option("axis").is_null() ? Dims{-1} : c.dims("axis");
  const double epsilon = c.number("epsilon", keras_epsilon);
  if (!lists_no_axes(c)) return f(x, parameters, axes, epsilon);
  for (Value& parameter : parameters) {
    if (!parameter.defined()) continue;
    while (parameter.rank() < x.rank()) parameter = ops::expand_dims(parameter, 0);
    parameter = ops::expand_dims(parameter, -1);
  }
  return ops::squeeze(f(ops::expand_dims(x, -1), parameters, Dims{-1}, epsilon), -1);
}

}  // namespace

Results layer_norm(const C& c) {
  const auto f = [&](Value x, const Values& parameters, const Dims& axes, double epsilon) {
    return ops::layer_normalization(x, parameters[0], parameters[1], axes, epsilon,
                                    c.flag("rms_scaling"));
  };
  return normalized(c, f, {c.tensor(1, "gamma"), c.tensor(2, "beta")});
}
Results rms_norm(const C& c) {
  const auto f = [](Value x, const Values& parameters, const Dims& axes, double epsilon) {
    return ops::rms_normalization(x, parameters[0], axes, epsilon);
  };
  return normalized(c, f, {c.tensor(1, "scale")});
}
Results batch_norm(const C& c) {
  return ops::batch_normalization(c.tensor(0), c.tensor(1), c.tensor(2), c.option("axis").as_int(),
                                  c.tensor(3, "offset"), c.tensor(4, "scale"),
                                  c.number("epsilon", 1e-3));
}

Results search_sorted(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::searchsorted(in[0], in[1], c.option("side") == Json("right") ? "right" : "left");
}
Results is_in(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::isin(in[0], in[1], c.flag("assume_unique"), c.flag("invert"));
}
Results in_top_k(const C& c) {
  return ops::in_top_k(as_index(c.tensor(0)), as_float(c.tensor(1)), c.integer("k").value_or(1));
}
Results psnr(const C& c) { return ops::psnr(c.tensor(0), c.tensor(1), c.number("max_val", 1)); }

}  // namespace keratin::rules

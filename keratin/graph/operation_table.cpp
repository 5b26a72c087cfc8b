// Keras's operations by class name, one row each, and what they compute.
#include <cmath>
#include <numbers>

#include "keratin/graph/get_item.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/promote.h"

namespace keratin {
namespace {

using C = OperationCall;
using Unary = Value (*)(Value);
using Binary = Value (*)(Value, Value);
using Reduce = Value (*)(Value, const Dims&, bool);
using Along = Value (*)(Value, int64_t);
using Scaled = Value (*)(Value, double);

Value cast_to(Value x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }
Value as_bool(Value x) { return cast_to(x, DType::boolean); }

int64_t from_front(const C& c, int64_t axis, int64_t rank) {
  require(axis >= -rank && axis < rank, c.who(), ": axis ", axis, " is outside rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

template <Unary f>
Results same(const C& c) {  // of any dtype
  return f(c.tensor(0));
}
template <Unary f>
Results of_float(const C& c) {
  return f(c.float_tensor(0));
}
template <Binary f>
Results both(const C& c) {
  const Values in = c.operands(0, 2);
  return f(in[0], in[1]);
}
template <Binary f>
Results both_floats(const C& c) {
  Values in = c.operands(0, 2);
  for (Value& x : in) x = cast_to(x, ops::promoted_to_float(x.dtype()));
  return f(in[0], in[1]);
}
template <Binary f>
Results logical(const C& c) {
  return f(as_bool(c.tensor(0)), as_bool(c.tensor(1)));
}

template <Reduce f>
Results reduce(const C& c) {
  return f(c.tensor(0), c.dims("axis"), c.flag("keepdims"));
}
template <Reduce f>
Results reduce_floats(const C& c) {
  return f(c.float_tensor(0), c.dims("axis"), c.flag("keepdims"));
}
template <Reduce f>
Results reduce_bools(const C& c) {
  return f(as_bool(c.tensor(0)), c.dims("axis"), c.flag("keepdims"));
}
// Small integers are added up in int32.
template <Reduce f>
Results accumulate(const C& c) {
  Value x = c.tensor(0);
  if (const auto dtype = c.dtype()) x = cast_to(x, *dtype);
  if (x.dtype() == DType::boolean || x.dtype() == DType::i8 || x.dtype() == DType::u8)
    x = ops::cast(x, DType::i32);
  return f(x, c.dims("axis"), c.flag("keepdims"));
}
template <Value (*f)(Value, int64_t, bool)>
Results position(const C& c) {
  Value x = c.tensor(0);
  const auto axis = c.integer("axis");
  if (!axis) x = ops::reshape(x, {ops::infer_size});
  return ops::cast(f(x, axis.value_or(0), c.flag("keepdims")), DType::i32);
}
template <Along f>
Results along(const C& c) {
  return f(c.float_tensor(0), c.integer("axis").value_or(-1));
}
template <Along f>
Results along_axes(const C& c) {
  const Dims axes = c.dims("axis");
  require(axes.size() == 1, c.who(), ": expected one axis, got ", c.option("axis"));
  return f(c.float_tensor(0), axes[0]);
}
// An activation with one number, whose name and default are the template's.
struct Option {
  const char* key;
  double otherwise;
};
constexpr Option alpha{"alpha", 1}, slope{"negative_slope", 0.2}, half{"threshold", 0.5},
    four{"b", 4};
template <Scaled f, const Option& option>
Results with_number(const C& c) {
  return f(c.float_tensor(0), c.number(option.key, option.otherwise));
}

Value standard_deviation(Value x, const Dims& axes, bool keepdims) {
  return ops::sqrt(ops::variance(x, axes, keepdims));
}
Value log2(Value x) { return ops::log(x) * (1 / std::numbers::ln2); }
Value log10(Value x) { return ops::log(x) * (1 / std::numbers::ln10); }
Value exp2(Value x) { return ops::exp(x * std::numbers::ln2); }
Value same_value(Value x) { return x; }
Value flat(Value x) { return ops::reshape(x, {ops::infer_size}); }

// Vectors count as one row or one column.
Value matmul(Value a, Value b) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  Value y = ops::matmul(row ? ops::expand_dims(a, 0) : a, column ? ops::expand_dims(b, 1) : b);
  if (column) y = ops::squeeze(y, -1);
  if (row) y = ops::squeeze(y, column ? -1 : -2);
  return y;
}

Results cast(const C& c) { return cast_to(c.tensor(0), c.dtype().value_or(DType::f32)); }
Results convert(const C& c) {
  const Value x = c.tensor(0);
  return cast_to(x, c.dtype().value_or(x.dtype()));
}
template <int value>
Results filled_like(const C& c) {
  const Value x = c.tensor(0);
  return ops::fill_like(x, value, c.dtype().value_or(x.dtype()));
}
Results full_like(const C& c) {
  const Value x = c.tensor(0);
  const DType dtype = c.dtype().value_or(x.dtype());
  return ops::select(ops::fill_like(x, 1, DType::boolean), cast_to(c.tensor(1), dtype),
                     ops::fill_like(x, 0, dtype));
}
Results gelu(const C& c) {
  const Json& approximate = c.option("approximate");
  return ops::gelu(c.float_tensor(0), approximate.is_null() || approximate.as_bool());
}
Results threshold(const C& c) {
  return ops::threshold(c.float_tensor(0), c.number("threshold", 0), c.number("default_value", 0));
}
Results round(const C& c) {
  const double scale = std::pow(10, c.number("decimals", 0));
  const Value x = c.float_tensor(0);
  return scale == 1 ? ops::round(x) : ops::round(x * scale) / scale;
}
Results where(const C& c) {
  const Values in = c.operands(1, 2);
  return ops::select(as_bool(c.tensor(0)), in[0], in[1]);
}
Results clip(const C& c) {
  Value x = c.tensor(0);
  const Json &low = c.option("x_min"), &high = c.option("x_max");
  const auto bound = [&](const Json& json) {
    const DType dtype = ops::promoted_with_number(x.dtype(), json.is_int());
    x = cast_to(x, dtype);
    return ops::constant(c.block(), tensor_from_json(json, dtype));
  };
  if (!low.is_null()) {
    const Value limit = bound(low);
    x = ops::maximum(x, limit);
  }
  if (!high.is_null()) {
    const Value limit = bound(high);
    x = ops::minimum(x, limit);
  }
  return x;
}

Results reshape(const C& c) { return ops::reshape(c.tensor(0), c.dims("newshape")); }
Results broadcast_to(const C& c) { return ops::broadcast_to(c.tensor(0), c.dims("shape")); }
Results transpose(const C& c) {
  const Value x = c.tensor(0);
  Dims axes = c.dims("axes");
  if (axes.empty())
    for (int64_t axis = x.rank(); axis-- > 0;) axes.push_back(axis);
  return ops::transpose(x, axes);
}
Results swap_axes(const C& c) {
  const Value x = c.tensor(0);
  Dims axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  std::swap(axes[static_cast<size_t>(from_front(c, c.option("axis1").as_int(), x.rank()))],
            axes[static_cast<size_t>(from_front(c, c.option("axis2").as_int(), x.rank()))]);
  return ops::transpose(x, axes);
}
Results move_axis(const C& c) {
  const Value x = c.tensor(0);
  const Dims source = c.dims("source"), target = c.dims("destination");
  require(source.size() == target.size(), c.who(), ": expected as many sources as destinations");
  Dims axes(static_cast<size_t>(x.rank()), -1), rest;
  for (int64_t axis = 0; axis < x.rank(); ++axis) rest.push_back(axis);
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = from_front(c, source[i], x.rank());
    axes[static_cast<size_t>(from_front(c, target[i], x.rank()))] = from;
    std::erase(rest, from);
  }
  auto next = rest.begin();
  for (int64_t& axis : axes)
    if (axis < 0) axis = *next++;
  return ops::transpose(x, axes);
}
Results expand_dims(const C& c) {
  Value x = c.tensor(0);
  const Dims given = c.dims("axis");
  const int64_t rank = x.rank() + static_cast<int64_t>(given.size());
  Dims axes;
  for (const int64_t axis : given) axes.push_back(from_front(c, axis, rank));
  std::sort(axes.begin(), axes.end());
  for (const int64_t axis : axes) x = ops::expand_dims(x, axis);
  return x;
}
Results squeeze(const C& c) {
  Value x = c.tensor(0);
  Dims axes;
  for (const int64_t axis : c.dims("axis")) axes.push_back(from_front(c, axis, x.rank()));
  if (c.option("axis").is_null())
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (x.shape()[axis] == 1) axes.push_back(axis);
  std::sort(axes.rbegin(), axes.rend());
  for (const int64_t axis : axes) x = ops::squeeze(x, axis);
  return x;
}
Results concatenate(const C& c) { return ops::concat(c.list(0), c.integer("axis").value_or(0)); }
Results stack(const C& c) { return ops::stack(c.list(0), c.integer("axis").value_or(0)); }
Results split(const C& c) {
  const Value x = c.tensor(0);
  const int64_t axis = from_front(c, c.integer("axis").value_or(0), x.rank());
  const Json& how = c.option("indices_or_sections");
  if (how.is_number()) return ops::split(x, how.as_int(), axis);
  Values parts;
  int64_t start = 0;
  for (const Json& at : how.as_array()) {
    parts.push_back(ops::slice_axis(x, axis, start, at.as_int()));
    start = at.as_int();
  }
  parts.push_back(ops::slice_axis(x, axis, start, ops::to_end));
  return parts;
}
Results flip(const C& c) { return ops::reverse(c.tensor(0), c.dims("axis")); }
Results tile(const C& c) {
  Value x = c.tensor(0);
  Dims repeats = c.dims("repeats");
  while (repeats.size() < static_cast<size_t>(x.rank())) repeats.insert(repeats.begin(), 1);
  while (static_cast<size_t>(x.rank()) < repeats.size()) x = ops::expand_dims(x, 0);
  return ops::tile(x, repeats);
}
Results repeat(const C& c) {
  const auto axis = c.integer("axis");
  const Value x = c.tensor(0);
  return ops::repeat(axis ? x : flat(x), c.option("repeats").as_int(), axis.value_or(0));
}
Results roll(const C& c) {
  const auto axis = c.integer("axis");
  require(axis.has_value(), c.who(), ": expected one axis");
  return ops::roll(c.tensor(0), c.option("shift").as_int(), *axis);
}
Results take(const C& c) {
  const auto axis = c.integer("axis");
  const Value x = c.tensor(0), indices = c.tensor(1);
  const bool whole = indices.dtype() == DType::i32 || indices.dtype() == DType::i64;
  return ops::gather(axis ? x : flat(x), whole ? indices : ops::cast(indices, DType::i32),
                     axis.value_or(0));
}
Results one_hot(const C& c) {
  const Value indices = c.tensor(0);
  const bool whole = indices.dtype() == DType::i32 || indices.dtype() == DType::i64;
  return ops::one_hot(whole ? indices : ops::cast(indices, DType::i32),
                      c.option("num_classes").as_int(), c.dtype().value_or(DType::f32),
                      c.integer("axis").value_or(-1));
}
Results einsum(const C& c) { return ops::einsum(c.option("subscripts").as_string(), c.operands()); }
Results pad(const C& c) {
  const Value x = c.tensor(0);
  const Json& widths = c.option("pad_width");
  const std::string& mode = c.option("mode").as_string();
  Dims lo, hi;
  for (const Json& pair : widths.as_array()) {
    lo.push_back(pair[0].as_int());
    hi.push_back(pair[1].as_int());
  }
  if (mode == "reflect") return ops::pad_reflect(x, lo, hi);
  if (mode == "symmetric") return ops::pad_symmetric(x, lo, hi);
  require(mode == "constant", c.who(), ": mode '", mode, "' is not supported");
  const Tree<Traced>& value = c.argument("constant_values");
  return ops::pad(
      x, {.lo = lo, .hi = hi, .value = value.is_none() ? 0.0 : value.constant().as_double()});
}
template <Value (*f)(Value, ops::CumulativeAttrs)>
Results cumulate(const C& c) {
  const auto axis = c.integer("axis");
  Value x = c.tensor(0);
  x = cast_to(x, c.dtype().value_or(x.dtype()));
  if (!axis) x = flat(x);
  return f(x, {.axis = axis.value_or(0)});
}
Results normalize(const C& c) {
  const Value x = c.float_tensor(0);
  require(c.number("order", 2) == 2, c.who(), ": only order 2 is supported");
  const Value squares = ops::sum(ops::square(x), c.dims("axis"), /*keepdims=*/true);
  const double longest = 1 / c.number("epsilon", 1e-7);
  return x * ops::minimum(ops::rsqrt(squares), ops::scalar_like(x, longest));
}
Results sort(const C& c) { return ops::sort(c.tensor(0), {.axis = c.option("axis").as_int()}); }
Results argsort(const C& c) {
  return ops::cast(ops::argsort(c.tensor(0), {.axis = c.option("axis").as_int()}), DType::i32);
}
Results top_k(const C& c) {
  const ops::TopK found = ops::top_k(c.tensor(0), c.option("k").as_int());
  return Values{found.values, found.indices};
}
Results get_item(const C& c) { return get_item(c.tensor(0), c.argument(1)); }

constexpr std::string_view numpy = "numpy", nn = "nn", core = "core", math = "math";

constexpr OperationDef table[] = {
    {"Absolute", numpy, same<ops::abs>},
    {"Add", numpy, both<ops::add>},
    {"All", numpy, reduce_bools<ops::all>},
    {"Amax", numpy, reduce<ops::max>},
    {"Amin", numpy, reduce<ops::min>},
    {"Any", numpy, reduce_bools<ops::any>},
    {"Arccos", numpy, of_float<ops::acos>},
    {"Arccosh", numpy, of_float<ops::acosh>},
    {"Arcsin", numpy, of_float<ops::asin>},
    {"Arcsinh", numpy, of_float<ops::asinh>},
    {"Arctan", numpy, of_float<ops::atan>},
    {"Arctan2", numpy, both_floats<ops::atan2>},
    {"Arctanh", numpy, of_float<ops::atanh>},
    {"Argmax", numpy, position<ops::argmax>},
    {"Argmin", numpy, position<ops::argmin>},
    {"Argsort", numpy, argsort},
    {"BroadcastTo", numpy, broadcast_to},
    {"Cast", core, cast},
    {"Ceil", numpy, of_float<ops::ceil>},
    {"Celu", nn, with_number<ops::celu, alpha>},
    {"Clip", numpy, clip},
    {"Concatenate", numpy, concatenate},
    {"ConvertToTensor", core, convert},
    {"Copy", numpy, same<same_value>},
    {"Cos", numpy, of_float<ops::cos>},
    {"Cosh", numpy, of_float<ops::cosh>},
    {"Cumprod", numpy, cumulate<ops::cumprod>},
    {"Cumsum", numpy, cumulate<ops::cumsum>},
    {"Divide", numpy, both_floats<ops::div>},
    {"Einsum", numpy, einsum},
    {"Elu", nn, with_number<ops::elu, alpha>},
    {"Equal", numpy, both<ops::equal>},
    {"Erf", math, of_float<ops::erf>},
    {"Erfinv", math, of_float<ops::erfinv>},
    {"Exp", numpy, of_float<ops::exp>},
    {"Exp2", numpy, of_float<exp2>},
    {"ExpandDims", numpy, expand_dims},
    {"Expm1", numpy, of_float<ops::expm1>},
    {"Flip", numpy, flip},
    {"Floor", numpy, of_float<ops::floor>},
    {"FloorDivide", numpy, both<ops::floor_div>},
    {"FullLike", numpy, full_like},
    {"Gelu", nn, gelu},
    {"GetItem", numpy, get_item},
    {"Glu", nn, along<ops::glu>},
    {"Greater", numpy, both<ops::greater>},
    {"GreaterEqual", numpy, both<ops::greater_equal>},
    {"HardShrink", nn, with_number<ops::hard_shrink, half>},
    {"HardSigmoid", nn, of_float<ops::hard_sigmoid>},
    {"HardSilu", nn, of_float<ops::hard_silu>},
    {"HardTanh", nn, of_float<ops::hard_tanh>},
    {"Isfinite", numpy, of_float<ops::is_finite>},
    {"Isinf", numpy, of_float<ops::is_inf>},
    {"Isnan", numpy, of_float<ops::is_nan>},
    {"LeakyRelu", nn, with_number<ops::leaky_relu, slope>},
    {"Less", numpy, both<ops::less>},
    {"LessEqual", numpy, both<ops::less_equal>},
    {"Log", numpy, of_float<ops::log>},
    {"Log10", numpy, of_float<log10>},
    {"Log1p", numpy, of_float<ops::log1p>},
    {"Log2", numpy, of_float<log2>},
    {"LogSigmoid", nn, of_float<ops::log_sigmoid>},
    {"LogSoftmax", nn, along_axes<ops::log_softmax>},
    {"LogicalAnd", numpy, logical<ops::bit_and>},
    {"LogicalNot", numpy, [](const C& c) -> Results { return ops::bit_not(as_bool(c.tensor(0))); }},
    {"LogicalOr", numpy, logical<ops::bit_or>},
    {"LogicalXor", numpy, logical<ops::bit_xor>},
    {"Logsumexp", math, reduce_floats<ops::logsumexp>},
    {"Matmul", numpy, both<matmul>},
    {"Max", numpy, reduce<ops::max>},
    {"Maximum", numpy, both<ops::maximum>},
    {"Mean", numpy, reduce_floats<ops::mean>},
    {"Min", numpy, reduce<ops::min>},
    {"Minimum", numpy, both<ops::minimum>},
    {"Mod", numpy, both<ops::mod>},
    {"Moveaxis", numpy, move_axis},
    {"Multiply", numpy, both<ops::mul>},
    {"Negative", numpy, same<ops::neg>},
    {"Normalize", nn, normalize},
    {"NotEqual", numpy, both<ops::not_equal>},
    {"OneHot", nn, one_hot},
    {"OnesLike", numpy, filled_like<1>},
    {"Pad", numpy, pad},
    {"Power", numpy, both<ops::pow>},
    {"Prod", numpy, accumulate<ops::prod>},
    {"Ravel", numpy, same<flat>},
    {"Reciprocal", numpy, of_float<ops::reciprocal>},
    {"Relu", nn, same<ops::relu>},
    {"Relu6", nn, of_float<ops::relu6>},
    {"Repeat", numpy, repeat},
    {"Reshape", numpy, reshape},
    {"Roll", numpy, roll},
    {"Round", numpy, round},
    {"Rsqrt", math, of_float<ops::rsqrt>},
    {"Selu", nn, of_float<ops::selu>},
    {"Sigmoid", nn, of_float<ops::sigmoid>},
    {"Sign", numpy, same<ops::sign>},
    {"Silu", nn, of_float<ops::silu>},
    {"Sin", numpy, of_float<ops::sin>},
    {"Sinh", numpy, of_float<ops::sinh>},
    {"SoftShrink", nn, with_number<ops::soft_shrink, half>},
    {"Softmax", nn, along_axes<ops::softmax>},
    {"Softplus", nn, of_float<ops::softplus>},
    {"Softsign", nn, of_float<ops::softsign>},
    {"Sort", numpy, sort},
    {"SparsePlus", nn, of_float<ops::sparse_plus>},
    {"SparseSigmoid", nn, of_float<ops::sparse_sigmoid>},
    {"Sparsemax", nn, along<ops::sparsemax>},
    {"Split", numpy, split},
    {"Sqrt", numpy, of_float<ops::sqrt>},
    {"Square", numpy, same<ops::square>},
    {"Squareplus", nn, with_number<ops::squareplus, four>},
    {"Squeeze", numpy, squeeze},
    {"Stack", numpy, stack},
    {"Std", numpy, reduce_floats<standard_deviation>},
    {"StopGradient", core, same<ops::stop_gradient>},
    {"Subtract", numpy, both<ops::sub>},
    {"Sum", numpy, accumulate<ops::sum>},
    {"Swapaxes", numpy, swap_axes},
    {"Take", numpy, take},
    {"Tan", numpy, of_float<ops::tan>},
    {"Tanh", numpy, of_float<ops::tanh>},
    {"TanhShrink", nn, of_float<ops::tanh_shrink>},
    {"Threshold", nn, threshold},
    {"Tile", numpy, tile},
    {"TopK", math, top_k},
    {"Transpose", numpy, transpose},
    {"TrueDivide", numpy, both_floats<ops::div>},
    {"Trunc", numpy, of_float<ops::trunc>},
    {"Var", numpy, reduce_floats<ops::variance>},
    {"Where", numpy, where},
    {"ZerosLike", numpy, filled_like<0>},
};

}  // namespace

std::span<const OperationDef> all_operations() { return table; }

}  // namespace keratin

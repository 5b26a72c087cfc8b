// Keras's operations by class name, one row each, and what they compute.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/graph/get_item.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/ops/fill.h"

namespace keratin {
namespace {

using namespace rules;

Value standard_deviation(Value x, const Dims& axes, bool keepdims) {
  return ops::sqrt(ops::var(x, axes, keepdims));
}
Value log2(Value x) { return ops::log(x) * (1 / std::numbers::ln2); }
Value log10(Value x) { return ops::log(x) * (1 / std::numbers::ln10); }
Value exp2(Value x) { return ops::power(ops::scalar_like(x, 2), x); }
Value same_value(Value x) { return x; }

Value cbrt(Value x) { return ops::sign(x) * ops::power(ops::abs(x), ops::scalar_like(x, 1.0 / 3)); }
Value erfc(Value x) { return 1.0 - ops::erf(x); }
Value degrees(Value x) { return x * (180 / std::numbers::pi); }
Value radians(Value x) { return x * (std::numbers::pi / 180); }
Value sinc(Value x) {
  const Value angle = x * std::numbers::pi, zero = ops::scalar_like(x, 0);
  return ops::where(ops::equal(x, zero), ops::scalar_like(x, 1), ops::sin(angle) / angle);
}
Value is_positive_infinity(Value x) { return ops::isinf(x) & (x > 0.0); }
Value is_negative_infinity(Value x) { return ops::isinf(x) & (x < 0.0); }
Value reverse_rows(Value x) { return ops::flip(x, {0}); }
Value reverse_columns(Value x) { return ops::flip(x, {1}); }
// Of -0 too.
Value sign_bit(Value x) {
  const Value negative = x < 0.0;
  if (!is_float(x.dtype())) return negative;
  return ops::where(ops::equal(x, ops::scalar_like(x, 0)), ops::reciprocal(x) < 0.0, negative);
}

// Only the type counts while the size is open: a graph is traced again for the sizes it runs on.
Value sparsemax(Value x, int64_t axis) {
  const bool open = x.shape()[normalize_axis(axis, x.rank(), "sparsemax")] == unknown;
  return open ? x : ops::sparsemax(x, axis);
}

// The sign of the dividend.
Value fmod(Value a, Value b) {
  const Value rest = ops::mod(ops::abs(a), ops::abs(b));
  return ops::where(a < 0.0, -rest, rest);
}
Value fmax(Value a, Value b) {
  if (!is_float(a.dtype())) return ops::maximum(a, b);
  return ops::where(ops::isnan(a), b, ops::where(ops::isnan(b), a, ops::maximum(a, b)));
}
Value fmin(Value a, Value b) {
  if (!is_float(a.dtype())) return ops::minimum(a, b);
  return ops::where(ops::isnan(a), b, ops::where(ops::isnan(b), a, ops::minimum(a, b)));
}
Value heaviside(Value x, Value at_zero) {
  const Value one = ops::scalar_like(x, 1), zero = ops::scalar_like(x, 0);
  const Value y = ops::where(x < 0.0, zero, ops::where(ops::equal(x, zero), at_zero, one));
  return ops::where(ops::isnan(x), x, y);
}
// Scaled by the larger one, so that no square overflows.
Value hypot(Value a, Value b) {
  const Value x = ops::abs(a), y = ops::abs(b), large = ops::maximum(x, y);
  const Value ratio = ops::minimum(x, y) / large;
  const Value length = ops::where(ops::equal(large, ops::scalar_like(large, 0)), large,
                                  large * ops::sqrt(ratio * ratio + 1.0));
  const Value endless = ops::isinf(x) | ops::isinf(y);  // even beside NaN
  return ops::where(endless, ops::scalar_like(x, std::numeric_limits<double>::infinity()), length);
}
Value divide_no_nan(Value a, Value b) {
  const Value zero = ops::scalar_like(b, 0), none = ops::equal(b, zero);
  return ops::where(none, zero, a / ops::where(none, ops::scalar_like(b, 1), b));
}
// log(eᵃ + eᵇ) without its overflow; equal infinities have no difference.
Value logaddexp(Value a, Value b) {
  const Value distance = ops::abs(a - b);
  return ops::where(ops::isnan(distance), a + b,
                    ops::maximum(a, b) + ops::log1p(ops::exp(-distance)));
}
Value logaddexp2(Value a, Value b) {
  return logaddexp(a * std::numbers::ln2, b * std::numbers::ln2) * (1 / std::numbers::ln2);
}
Value ldexp(Value x, Value exponent) { return x * exp2(exponent); }
Results everywhere_true(const C& c) { return ops::fill_like(c.tensor(0), 1, DType::boolean); }
// Of no elements it is -infinity.
Value logsumexp(Value x, const Dims& axes, bool keepdims) {
  const Dims& sizes = x.shape().dims();
  if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end())
    return ops::logsumexp(x, axes, keepdims);
  return ops::log(ops::sum(ops::exp(x), axes, keepdims));
}
Value range(Value x, const Dims& axes, bool keepdims) {
  return ops::max(x, axes, keepdims) - ops::min(x, axes, keepdims);
}

Value nancumsum(Value x, ops::CumulativeAttrs attrs) {
  return ops::cumsum(instead_of_nan(x, 0), attrs);
}
Value nancumprod(Value x, ops::CumulativeAttrs attrs) {
  return ops::cumprod(instead_of_nan(x, 1), attrs);
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
  return ops::where(ops::fill_like(x, 1, DType::boolean), cast_to(c.tensor(1), dtype),
                    ops::fill_like(x, 0, dtype));
}
Results gelu(const C& c) {
  const Json& approximate = c.option("approximate");
  return ops::gelu(c.float_tensor(0), approximate.is_null() || approximate.as_bool());
}
Results threshold(const C& c) {
  const bool whole = c.option("threshold").is_int() && c.option("default_value").is_int();
  return piecewise(c, whole, [&](Value x) {
    return ops::threshold(x, c.number("threshold", 0), c.number("default_value", 0));
  });
}
// Integers stay what they are, but for places before the point.
Results round(const C& c) {
  const Value given = c.tensor(0);
  const double decimals = c.number("decimals", 0), scale = std::pow(10, decimals);
  if (!is_float(given.dtype()) && decimals >= 0) return given;
  const Value x = as_float(given);
  return cast_to(scale == 1 ? ops::round(x) : ops::round(x * scale) / scale, given.dtype());
}
Results where(const C& c) {
  require(!c.argument(1).is_none() && !c.argument(2).is_none(), c.who(),
          ": expected a condition and two tensors to choose from. The positions where a condition "
          "alone holds are as many as the data says, and no program knows their number before it "
          "runs (neither does Keras's on JAX).");
  const Values in = c.operands(1, 2);
  return ops::where(as_bool(c.tensor(0)), in[0], in[1]);
}
// A limit outside of the dtype of x is its largest or smallest number.
Results clip(const C& c) {
  Value x = as_number(c.tensor(0));
  const auto limit = [&](const Json& json, Binary f) {
    if (json.is_null()) return;
    if (!json.is_bool()) x = cast_to(x, ops::promoted_with_number(x.dtype(), json.is_int()));
    const double value = json.is_bool() ? json.as_bool() : json.as_double();
    x = f(x, ops::constant(c.block(), Tensor::scalar(x.dtype(), value)));
  };
  limit(c.option("x_min"), ops::maximum);
  limit(c.option("x_max"), ops::minimum);
  return x;
}

template <Value (*f)(Value, ops::CumulativeAttrs)>
Results cumulate(const C& c) {
  const auto axis = c.integer("axis");
  Value x = c.tensor(0);
  x = as_number(cast_to(x, c.dtype().value_or(x.dtype())));
  if (!axis) x = flat(x);
  return f(x, {.axis = axis.value_or(0)});
}
Results sort(const C& c) {
  const auto axis = c.integer("axis");
  return ops::sort(axis ? c.tensor(0) : flat(c.tensor(0)), {.axis = axis.value_or(0)});
}
Results argsort(const C& c) {
  const Value x = c.tensor(0);
  const auto axis = x.rank() == 0 ? std::nullopt : c.integer("axis");
  return ops::cast(ops::argsort(axis ? x : flat(x), {.axis = axis.value_or(0)}), DType::i32);
}
Results top_k(const C& c) {
  const ops::TopK found = ops::top_k(c.tensor(0), c.option("k").as_int());
  return Values{found.values, found.indices};
}
double largest_number(DType dtype) {
  if (dtype == DType::f16) return 65504;
  if (dtype == DType::bf16) return 0x1.FEp127;
  return dispatch(dtype, [](auto tag) {
    return static_cast<double>(std::numeric_limits<compute_t<typename decltype(tag)::type>>::max());
  });
}
double smallest_number(DType dtype) {
  if (is_float(dtype)) return -largest_number(dtype);
  return dispatch(dtype, [](auto tag) {
    return static_cast<double>(
        std::numeric_limits<compute_t<typename decltype(tag)::type>>::lowest());
  });
}
Results nan_to_num(const C& c) {
  const Value x = c.tensor(0);
  if (!is_float(x.dtype())) return x;
  const double largest = largest_number(x.dtype());
  const auto filled = [&](Value y, Value where, double value) {
    return ops::where(where, ops::scalar_like(x, value), y);
  };
  Value y = instead_of_nan(x, c.number("nan", 0));
  y = filled(y, is_positive_infinity(x), c.number("posinf", largest));
  return filled(y, is_negative_infinity(x), c.number("neginf", -largest));
}
Results saturate_cast(const C& c) {
  const DType dtype = c.dtype().value_or(DType::f32);
  const Value x = c.tensor(0);
  if (x.dtype() == DType::boolean) return cast_to(x, dtype);
  if (dtype == DType::boolean) return x > 0.0;  // from 0 to 1
  const auto limit = [&](double bound, double own) {
    return ops::scalar_like(x, std::abs(bound) < std::abs(own) ? bound : own);
  };
  const Value low = limit(smallest_number(dtype), smallest_number(x.dtype()));
  const Value high = limit(largest_number(dtype), largest_number(x.dtype()));
  return cast_to(ops::minimum(ops::maximum(x, low), high), dtype);
}
Results is_close(const C& c) {
  const Values in = c.operands(0, 2);
  const Value a = as_float(in[0]), b = as_float(in[1]);
  const auto limit = [&](size_t i, double otherwise) {
    return c.argument(i).is_none() ? otherwise : c.argument(i).constant().as_double();
  };
  const Value near =
      ops::less_equal(ops::abs(a - b), ops::abs(b) * limit(2, 1e-5) + limit(3, 1e-8));
  Value close = (near & ops::isfinite(b)) | ops::equal(a, b);
  if (c.flag("equal_nan")) close = close | (ops::isnan(a) & ops::isnan(b));
  return close;
}
// The choice of the first condition that holds.
Results select(const C& c) {
  const Values conditions = c.tensors(0);
  Values values = c.tensors(1);
  require(conditions.size() == values.size(), c.who(), ": expected as many choices as conditions");
  values = ops::promote(values);
  const Tree<Traced>& given = c.argument(2);
  const bool number = given.is_constant() && !given.is_none();
  DType dtype = given.is_none() || number ? values[0].dtype()
                                          : ops::promoted(values[0].dtype(), c.tensor(2).dtype());
  if (number && !given.constant().is_bool())
    dtype = ops::promoted_with_number(dtype, given.constant().is_int());
  for (Value& value : values) value = cast_to(value, dtype);
  Value y = given.is_none() ? ops::scalar_like(values[0], 0)
            : number        ? ops::constant(c.block(), tensor_from_json(given.constant(), dtype))
                            : cast_to(c.tensor(2), dtype);
  for (size_t i = conditions.size(); i-- > 0;) y = ops::where(as_bool(conditions[i]), values[i], y);
  return y;
}
Results absolute(const C& c) {
  const Value x = c.tensor(0);
  return x.dtype() == DType::boolean ? x : ops::abs(x);
}
Results argmax(const C& c) { return position(c, ops::argmax); }
Results argmin(const C& c) { return position(c, ops::argmin); }
Results softmax(const C& c) { return softmax_over(c, ops::softmax); }
Results log_softmax(const C& c) { return softmax_over(c, ops::log_softmax); }
Results get_item(const C& c) { return get_item(c.tensor(0), c.argument(1)); }

constexpr std::string_view numpy = "numpy", nn = "nn", core = "core", math = "math",
                           linalg = "linalg";

constexpr OperationDef table[] = {
    {"Absolute", numpy, absolute},
    {"Add", numpy, both_or_bools<ops::add, ops::bitwise_or>},
    {"All", numpy, reduce_bools<ops::all>},
    {"Amax", numpy, max},
    {"Amin", numpy, min},
    {"Any", numpy, reduce_bools<ops::any>},
    {"Append", numpy, append},
    {"Arccos", numpy, of_float<ops::arccos>},
    {"Arccosh", numpy, of_float<ops::arccosh>},
    {"Arcsin", numpy, of_float<ops::arcsin>},
    {"Arcsinh", numpy, of_float<ops::arcsinh>},
    {"Arctan", numpy, of_float<ops::arctan>},
    {"Arctan2", numpy, both_float_tensors<ops::arctan2>},
    {"Arctanh", numpy, of_float<ops::arctanh>},
    {"Argmax", numpy, argmax},
    {"Argmin", numpy, argmin},
    {"Argsort", numpy, argsort},
    {"Array", numpy, convert},
    {"ArraySplit", numpy, array_split},
    {"Average", numpy, average},
    {"BatchNorm", nn, batch_norm},
    {"BitwiseAnd", numpy, both<ops::bitwise_and>},
    {"BitwiseInvert", numpy, same<ops::bitwise_not>},
    {"BitwiseLeftShift", numpy, both_numbers<ops::bitwise_left_shift>},
    {"BitwiseNot", numpy, same<ops::bitwise_not>},
    {"BitwiseOr", numpy, both<ops::bitwise_or>},
    {"BitwiseRightShift", numpy, both_numbers<ops::bitwise_right_shift>},
    {"BitwiseXor", numpy, both<ops::bitwise_xor>},
    {"BroadcastTo", numpy, broadcast_to},
    {"Cast", core, cast},
    {"Cbrt", numpy, of_wide_float<cbrt>},
    {"Ceil", numpy, of_float<ops::ceil>},
    {"Celu", nn, with_number<ops::celu, alpha>},
    {"Clip", numpy, clip},
    {"Concatenate", numpy, concatenate},
    {"Conjugate", numpy, same<same_value>},
    {"ConvertToTensor", core, convert},
    {"Copy", numpy, same<same_value>},
    {"Cos", numpy, of_float<ops::cos>},
    {"Cosh", numpy, of_float<ops::cosh>},
    {"CountNonzero", numpy, count_nonzero},
    {"Cumprod", numpy, cumulate<ops::cumprod>},
    {"Cumsum", numpy, cumulate<ops::cumsum>},
    {"Deg2rad", numpy, of_wide_float<radians>},
    {"Diagonal", numpy, diagonal},
    {"Diff", numpy, diff},
    {"Digitize", numpy, digitize},
    {"Divide", numpy, both_floats<ops::divide>},
    {"DivideNoNan", numpy, both_floats<divide_no_nan>},
    {"Dot", numpy, product<numpy_dot>},
    {"Dsplit", numpy, dsplit},
    {"Dstack", numpy, dstack},
    {"Einsum", numpy, einsum},
    {"Elu", nn, with_number<ops::elu, alpha>},
    {"EmptyLike", numpy, filled_like<0>},
    {"Equal", numpy, compare<ops::equal>},
    {"Erf", math, of_float<ops::erf>},
    {"Erfc", math, of_float<erfc>},
    {"Erfinv", math, of_float<ops::erfinv>},
    {"Exp", numpy, of_float<ops::exp>},
    {"Exp2", numpy, of_float<exp2>},
    {"ExpandDims", numpy, expand_dims},
    {"Expm1", numpy, of_float<ops::expm1>},
    {"Fabs", numpy, of_float<ops::abs>},
    {"Flip", numpy, flip},
    {"Fliplr", numpy, same<reverse_columns>},
    {"Flipud", numpy, same<reverse_rows>},
    {"Floor", numpy, of_float<ops::floor>},
    {"FloorDivide", numpy, both_numbers<ops::floor_divide>},
    {"Fmax", numpy, both_or_bools<fmax, ops::bitwise_or>},
    {"Fmin", numpy, both_or_bools<fmin, ops::bitwise_and>},
    {"Fmod", numpy, both_numbers<fmod>},
    {"FullLike", numpy, full_like},
    {"Gelu", nn, gelu},
    {"GetItem", numpy, get_item},
    {"Glu", nn, along<ops::glu>},
    {"Greater", numpy, compare<ops::greater>},
    {"GreaterEqual", numpy, compare<ops::greater_equal>},
    {"HardShrink", nn, in_pieces<ops::hard_shrink, half>},
    {"HardSigmoid", nn, of_float<ops::hard_sigmoid>},
    {"HardSilu", nn, of_float<ops::hard_silu>},
    {"HardTanh", nn, in_pieces<ops::hard_tanh>},
    {"Heaviside", numpy, both_wide_floats<heaviside>},
    {"Hsplit", numpy, hsplit},
    {"Hstack", numpy, hstack},
    {"Hypot", numpy, both_wide_floats<hypot>},
    {"InTopK", math, in_top_k},
    {"Inner", numpy, product<inner>},
    {"IsIn", numpy, is_in},
    {"Isclose", numpy, is_close},
    {"Isfinite", numpy, of_float<ops::isfinite>},
    {"Isinf", numpy, of_float<ops::isinf>},
    {"Isnan", numpy, of_float<ops::isnan>},
    {"Isneginf", numpy, of_float<is_negative_infinity>},
    {"Isposinf", numpy, of_float<is_positive_infinity>},
    {"Isreal", numpy, everywhere_true},
    {"LayerNorm", nn, layer_norm},
    {"Ldexp", numpy, both_floats<ldexp>},
    {"LeakyRelu", nn, in_pieces<ops::leaky_relu, slope>},
    {"LeftShift", numpy, both_numbers<ops::bitwise_left_shift>},
    {"Less", numpy, compare<ops::less>},
    {"LessEqual", numpy, compare<ops::less_equal>},
    {"Log", numpy, of_float<ops::log>},
    {"Log10", numpy, of_float<log10>},
    {"Log1p", numpy, of_float<ops::log1p>},
    {"Log2", numpy, of_float<log2>},
    {"LogSigmoid", nn, of_float<ops::log_sigmoid>},
    {"LogSoftmax", nn, log_softmax},
    {"Logaddexp", numpy, both_float_tensors<logaddexp>},
    {"Logaddexp2", numpy, both_float_tensors<logaddexp2>},
    {"LogicalAnd", numpy, logical<ops::bitwise_and>},
    {"LogicalNot", numpy,
     [](const C& c) -> Results { return ops::bitwise_not(as_bool(c.tensor(0))); }},
    {"LogicalOr", numpy, logical<ops::bitwise_or>},
    {"LogicalXor", numpy, logical<ops::bitwise_xor>},
    {"Logsumexp", math, reduce_floats<logsumexp>},
    {"Matmul", numpy, matmul},
    {"Max", numpy, max},
    {"Maximum", numpy, both_or_bools<ops::maximum, ops::bitwise_or>},
    {"Mean", numpy, reduce_floats<ops::mean>},
    {"Meshgrid", numpy, meshgrid},
    {"Min", numpy, min},
    {"Minimum", numpy, both_or_bools<ops::minimum, ops::bitwise_and>},
    {"Mod", numpy, both_numbers<ops::mod>},
    {"Moments", nn, moments},
    {"Moveaxis", numpy, move_axis},
    {"MultiHot", nn, multi_hot},
    {"Multiply", numpy, both_or_bools<ops::multiply, ops::bitwise_and>},
    {"NanToNum", numpy, nan_to_num},
    {"Nancumprod", numpy, cumulate<nancumprod>},
    {"Nancumsum", numpy, cumulate<nancumsum>},
    {"Nanmax", numpy, nanmax},
    {"Nanmean", numpy, reduce_floats<nanmean>},
    {"Nanmin", numpy, nanmin},
    {"Nanprod", numpy, accumulate<nanprod>},
    {"Nanstd", numpy, reduce_floats<nanstd>},
    {"Nansum", numpy, accumulate<nansum>},
    {"Nanvar", numpy, reduce_floats<nanvar>},
    {"Negative", numpy, same<ops::negative>},
    {"Norm", linalg, norm},
    {"Normalize", nn, normalize},
    {"NotEqual", numpy, compare<ops::not_equal>},
    {"OneHot", nn, one_hot},
    {"OnesLike", numpy, filled_like<1>},
    {"Outer", numpy, product<outer>},
    {"PSNR", nn, psnr},
    {"Pad", numpy, pad},
    {"Power", numpy, both_numbers<ops::power>},
    {"Prod", numpy, accumulate<ops::prod>},
    {"Ptp", numpy, reduce<range>},
    {"RMSNorm", nn, rms_norm},
    {"Rad2deg", numpy, of_wide_float<degrees>},
    {"Ravel", numpy, same<flat>},
    {"Real", numpy, same<same_value>},
    {"Reciprocal", numpy, of_float<ops::reciprocal>},
    {"Relu", nn, same_number<ops::relu>},
    {"Relu6", nn, in_pieces<ops::relu6>},
    {"Repeat", numpy, repeat},
    {"Reshape", numpy, reshape},
    {"RightShift", numpy, both_numbers<ops::bitwise_right_shift>},
    {"Roll", numpy, roll},
    {"Rot90", numpy, rot90},
    {"Round", numpy, round},
    {"Rsqrt", math, of_float<ops::rsqrt>},
    {"SaturateCast", core, saturate_cast},
    {"SearchSorted", numpy, search_sorted},
    {"Select", numpy, select},
    {"Selu", nn, of_float<ops::selu>},
    {"Sigmoid", nn, of_float<ops::sigmoid>},
    {"Sign", numpy, same<ops::sign>},
    {"Signbit", numpy, same<sign_bit>},
    {"Silu", nn, of_float<ops::silu>},
    {"Sin", numpy, of_float<ops::sin>},
    {"Sinc", numpy, of_float<sinc>},
    {"Sinh", numpy, of_float<ops::sinh>},
    {"Slice", core, slice},
    {"SliceUpdate", core, slice_update},
    {"SoftShrink", nn, in_pieces<ops::soft_shrink, half>},
    {"Softmax", nn, softmax},
    {"Softplus", nn, of_float<ops::softplus>},
    {"Softsign", nn, of_float<ops::softsign>},
    {"Sort", numpy, sort},
    {"SparsePlus", nn, of_float<ops::sparse_plus>},
    {"SparseSigmoid", nn, of_float<ops::sparse_sigmoid>},
    {"Sparsemax", nn, along<sparsemax>},
    {"Split", numpy, split},
    {"Sqrt", numpy, of_float<ops::sqrt>},
    {"Square", numpy, same_number<ops::square>},
    {"Squareplus", nn, with_number<ops::squareplus, four>},
    {"Squeeze", numpy, squeeze},
    {"Stack", numpy, stack},
    {"Std", numpy, reduce_floats<standard_deviation>},
    {"StopGradient", core, same<ops::stop_gradient>},
    {"Subtract", numpy, both<ops::subtract>},
    {"Sum", numpy, accumulate<ops::sum>},
    {"Swapaxes", numpy, swap_axes},
    {"Take", numpy, take},
    {"TakeAlongAxis", numpy, take_along_axis},
    {"Tan", numpy, of_float<ops::tan>},
    {"Tanh", numpy, of_float<ops::tanh>},
    {"TanhShrink", nn, of_float<ops::tanh_shrink>},
    {"Tensordot", numpy, tensordot},
    {"Threshold", nn, threshold},
    {"Tile", numpy, tile},
    {"TopK", math, top_k},
    {"Trace", numpy, trace},
    {"Transpose", numpy, transpose},
    {"Tril", numpy, tril},
    {"Triu", numpy, triu},
    {"TrueDivide", numpy, both_floats<ops::divide>},
    {"Trunc", numpy, whole<ops::trunc>},
    {"Unstack", core, unstack},
    {"Var", numpy, reduce_floats<ops::var>},
    {"Vdot", numpy, product<vdot>},
    {"Vsplit", numpy, vsplit},
    {"Vstack", numpy, vstack},
    {"Where", numpy, where},
    {"ZerosLike", numpy, filled_like<0>},
};

}  // namespace

std::span<const OperationDef> all_operations() { return table; }

}  // namespace keratin

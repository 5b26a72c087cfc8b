// The table of Keras's operations, sorted by class name, and what each computes.
#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/get_item.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {
namespace {

using namespace rules;

// While the size is unknown, only the type counts: a graph is traced again for known sizes.
Value sparsemax(Value x, int64_t axis) {
  const bool unknown_size = x.shape()[normalize_axis(axis, x.rank(), "sparsemax")] == unknown;
  return unknown_size ? x : ops::sparsemax(x, axis);
}

// -infinity if there are no elements.
Value logsumexp(Value x, const Dims& axes, bool keepdims) {
  const Dims& sizes = x.shape().dims();
  if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end())
    return ops::logsumexp(x, axes, keepdims);
  return ops::log(ops::sum(ops::exp(x), axes, keepdims));
}
Results cast(const C& c) { return ops::cast(c.tensor(0), c.dtype().value_or(DType::f32)); }
template <Value (*f)(Value, std::optional<DType>)>
Results with_dtype(const C& c) {
  return f(c.tensor(0), c.dtype());
}
Results zeros_like(const C& c) {
  const Value x = c.tensor(0);
  return ops::zeros_like(x, c.dtype().value_or(x.dtype()));
}
Results full_like(const C& c) { return ops::full_like(c.tensor(0), c.tensor(1), c.dtype()); }
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
Results round(const C& c) { return ops::round(c.tensor(0), c.integer("decimals").value_or(0)); }
Results where(const C& c) {
  require(!c.argument(1).is_none() && !c.argument(2).is_none(), c.who(),
          ": expected a condition and two tensors to choose from. The positions where a condition "
          "alone holds are as many as the data says, and no program knows their number before it "
          "runs (neither does Keras's on JAX).");
  const Values in = c.operands(1, 2);
  return ops::where(as_bool(c.tensor(0)), in[0], in[1]);
}
// A limit outside of the range of the dtype of x is the largest or smallest number of the dtype.
Results clip(const C& c) {
  Value x = as_number(c.tensor(0));
  const auto limit = [&](const Json& json, Binary f) {
    if (json.is_null()) return;
    if (!json.is_bool()) x = ops::cast(x, ops::promoted_with_number(x.dtype(), json.is_int()));
    const double value = json.is_bool() ? json.as_bool() : json.as_double();
    x = f(x, ops::constant(c.block(), Tensor::scalar(x.dtype(), value)));
  };
  limit(c.option("x_min"), ops::maximum);
  limit(c.option("x_max"), ops::minimum);
  return x;
}

template <Value (*f)(Value, std::optional<int64_t>, std::optional<DType>)>
Results cumulate(const C& c) {
  return f(c.tensor(0), c.integer("axis"), c.dtype());
}
Results diff(const C& c) {
  return ops::diff(c.tensor(0), c.integer("n").value_or(1), c.integer("axis").value_or(-1));
}
Results sort(const C& c) { return ops::sort(c.tensor(0), c.integer("axis")); }
Results argsort(const C& c) {
  const Value x = c.tensor(0);
  const auto axis = x.rank() == 0 ? std::nullopt : c.integer("axis");
  return ops::cast(ops::argsort(x, axis), DType::i32);
}
Results top_k(const C& c) {
  const ops::TopK found = ops::top_k(c.tensor(0), c.option("k").as_int());
  return Values{found.values, found.indices};
}
template <Value (*f)(Value, int64_t)>
Results triangle(const C& c) {
  return f(c.tensor(0), c.integer("k").value_or(0));
}
Results nan_to_num(const C& c) {
  const auto number = [&](std::string_view key) {
    const Json& value = c.option(key);
    return value.is_null() ? std::nullopt : std::optional(value.as_double());
  };
  return ops::nan_to_num(c.tensor(0), c.number("nan", 0), number("posinf"), number("neginf"));
}
Results saturate_cast(const C& c) {
  return ops::saturate_cast(c.tensor(0), c.dtype().value_or(DType::f32));
}
Results is_close(const C& c) {
  const Values in = c.operands(0, 2);
  const auto limit = [&](size_t i, double fallback) {
    return c.argument(i).is_none() ? fallback : c.argument(i).constant().as_double();
  };
  return ops::isclose(in[0], in[1], limit(2, 1e-5), limit(3, 1e-8), c.flag("equal_nan"));
}
// A default that is a number counts less than a tensor when dtypes are promoted.
Results select(const C& c) {
  Values choices = c.list(1);
  const Tree<Traced>& given = c.argument(2);
  const bool number = given.is_constant() && !given.is_none();
  DType dtype = given.is_none() || number ? choices[0].dtype()
                                          : ops::promoted(choices[0].dtype(), c.tensor(2).dtype());
  if (number && !given.constant().is_bool())
    dtype = ops::promoted_with_number(dtype, given.constant().is_int());
  for (Value& choice : choices) choice = ops::cast(choice, dtype);
  Value fallback;
  if (number)
    fallback = ops::constant(c.block(), tensor_from_json(given.constant(), dtype));
  else if (!given.is_none())
    fallback = ops::cast(c.tensor(2), dtype);
  return ops::select(c.tensors(0), choices, fallback);
}
Results argmax(const C& c) { return position(c, ops::argmax); }
Results argmin(const C& c) { return position(c, ops::argmin); }
Results softmax(const C& c) { return softmax_over(c, ops::softmax); }
Results log_softmax(const C& c) { return softmax_over(c, ops::log_softmax); }
Results get_item(const C& c) { return get_item(c.tensor(0), c.argument(1)); }

constexpr std::string_view numpy = "numpy", nn = "nn", core = "core", math = "math",
                           linalg = "linalg";

constexpr OperationDef table[] = {
    {"Absolute", numpy, same<ops::absolute>},
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
    {"Array", numpy, with_dtype<ops::array>},
    {"ArraySplit", numpy, array_split},
    {"Average", numpy, average},
    {"BatchNorm", nn, batch_norm},
    {"BitwiseAnd", numpy, both<ops::bitwise_and>},
    {"BitwiseInvert", numpy, same<ops::bitwise_invert>},
    {"BitwiseLeftShift", numpy, both_numbers<ops::bitwise_left_shift>},
    {"BitwiseNot", numpy, same<ops::bitwise_not>},
    {"BitwiseOr", numpy, both<ops::bitwise_or>},
    {"BitwiseRightShift", numpy, both_numbers<ops::bitwise_right_shift>},
    {"BitwiseXor", numpy, both<ops::bitwise_xor>},
    {"BroadcastTo", numpy, broadcast_to},
    {"Cast", core, cast},
    {"Cbrt", numpy, of_wide_float<ops::cbrt>},
    {"Ceil", numpy, of_float<ops::ceil>},
    {"Celu", nn, with_number<ops::celu, alpha>},
    {"Clip", numpy, clip},
    {"Concatenate", numpy, concatenate},
    {"Conjugate", numpy, same<ops::conjugate>},
    {"ConvertToTensor", core, with_dtype<ops::convert_to_tensor>},
    {"Copy", numpy, same<ops::copy>},
    {"Cos", numpy, of_float<ops::cos>},
    {"Cosh", numpy, of_float<ops::cosh>},
    {"CountNonzero", numpy, count_nonzero},
    {"Cumprod", numpy, cumulate<ops::cumprod>},
    {"Cumsum", numpy, cumulate<ops::cumsum>},
    {"Deg2rad", numpy, of_wide_float<ops::deg2rad>},
    {"Diagonal", numpy, diagonal},
    {"Diff", numpy, diff},
    {"Digitize", numpy, both<ops::digitize>},
    {"Divide", numpy, both_floats<ops::divide>},
    {"DivideNoNan", numpy, both_floats<ops::divide_no_nan>},
    {"Dot", numpy, product<ops::dot>},
    {"Dsplit", numpy, dsplit},
    {"Dstack", numpy, of_list<ops::dstack>},
    {"Einsum", numpy, einsum},
    {"Elu", nn, with_number<ops::elu, alpha>},
    {"EmptyLike", numpy, with_dtype<ops::empty_like>},
    {"Equal", numpy, compare<ops::equal>},
    {"Erf", math, of_float<ops::erf>},
    {"Erfc", math, of_float<ops::erfc>},
    {"Erfinv", math, of_float<ops::erfinv>},
    {"Exp", numpy, of_float<ops::exp>},
    {"Exp2", numpy, of_float<ops::exp2>},
    {"ExpandDims", numpy, expand_dims},
    {"Expm1", numpy, of_float<ops::expm1>},
    {"Fabs", numpy, of_float<ops::fabs>},
    {"Flip", numpy, flip},
    {"Fliplr", numpy, same<ops::fliplr>},
    {"Flipud", numpy, same<ops::flipud>},
    {"Floor", numpy, of_float<ops::floor>},
    {"FloorDivide", numpy, both_numbers<ops::floor_divide>},
    {"Fmax", numpy, both_or_bools<ops::fmax, ops::bitwise_or>},
    {"Fmin", numpy, both_or_bools<ops::fmin, ops::bitwise_and>},
    {"Fmod", numpy, both_numbers<ops::fmod>},
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
    {"Heaviside", numpy, both_wide_floats<ops::heaviside>},
    {"Hsplit", numpy, hsplit},
    {"Hstack", numpy, of_list<ops::hstack>},
    {"Hypot", numpy, both_wide_floats<ops::hypot>},
    {"InTopK", math, in_top_k},
    {"Inner", numpy, product<ops::inner>},
    {"IsIn", numpy, is_in},
    {"Isclose", numpy, is_close},
    {"Isfinite", numpy, of_float<ops::isfinite>},
    {"Isinf", numpy, of_float<ops::isinf>},
    {"Isnan", numpy, of_float<ops::isnan>},
    {"Isneginf", numpy, of_float<ops::isneginf>},
    {"Isposinf", numpy, of_float<ops::isposinf>},
    {"Isreal", numpy, same<ops::isreal>},
    {"LayerNorm", nn, layer_norm},
    {"Ldexp", numpy, both_floats<ops::ldexp>},
    {"LeakyRelu", nn, in_pieces<ops::leaky_relu, slope>},
    {"LeftShift", numpy, both_numbers<ops::left_shift>},
    {"Less", numpy, compare<ops::less>},
    {"LessEqual", numpy, compare<ops::less_equal>},
    {"Log", numpy, of_float<ops::log>},
    {"Log10", numpy, of_float<ops::log10>},
    {"Log1p", numpy, of_float<ops::log1p>},
    {"Log2", numpy, of_float<ops::log2>},
    {"LogSigmoid", nn, of_float<ops::log_sigmoid>},
    {"LogSoftmax", nn, log_softmax},
    {"Logaddexp", numpy, both_float_tensors<ops::logaddexp>},
    {"Logaddexp2", numpy, both_float_tensors<ops::logaddexp2>},
    {"LogicalAnd", numpy, both_tensors<ops::logical_and>},
    {"LogicalNot", numpy, same<ops::logical_not>},
    {"LogicalOr", numpy, both_tensors<ops::logical_or>},
    {"LogicalXor", numpy, both_tensors<ops::logical_xor>},
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
    {"Nancumprod", numpy, cumulate<ops::nancumprod>},
    {"Nancumsum", numpy, cumulate<ops::nancumsum>},
    {"Nanmax", numpy, nanmax},
    {"Nanmean", numpy, reduce_floats<ops::nanmean>},
    {"Nanmin", numpy, nanmin},
    {"Nanprod", numpy, accumulate<ops::nanprod>},
    {"Nanstd", numpy, reduce_floats<ops::nanstd>},
    {"Nansum", numpy, accumulate<ops::nansum>},
    {"Nanvar", numpy, reduce_floats<ops::nanvar>},
    {"Negative", numpy, same<ops::negative>},
    {"Norm", linalg, norm},
    {"Normalize", nn, normalize},
    {"NotEqual", numpy, compare<ops::not_equal>},
    {"OneHot", nn, one_hot},
    {"OnesLike", numpy, with_dtype<ops::ones_like>},
    {"Outer", numpy, product<ops::outer>},
    {"PSNR", nn, psnr},
    {"Pad", numpy, pad},
    {"Power", numpy, both_numbers<ops::power>},
    {"Prod", numpy, accumulate<ops::prod>},
    {"Ptp", numpy, reduce<ops::ptp>},
    {"RMSNorm", nn, rms_norm},
    {"Rad2deg", numpy, of_wide_float<ops::rad2deg>},
    {"Ravel", numpy, same<ops::ravel>},
    {"Real", numpy, same<ops::real>},
    {"Reciprocal", numpy, of_float<ops::reciprocal>},
    {"Relu", nn, same_number<ops::relu>},
    {"Relu6", nn, in_pieces<ops::relu6>},
    {"Repeat", numpy, repeat},
    {"Reshape", numpy, reshape},
    {"RightShift", numpy, both_numbers<ops::right_shift>},
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
    {"Signbit", numpy, same<ops::signbit>},
    {"Silu", nn, of_float<ops::silu>},
    {"Sin", numpy, of_float<ops::sin>},
    {"Sinc", numpy, of_float<ops::sinc>},
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
    {"Std", numpy, reduce_floats<ops::std>},
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
    {"Tril", numpy, triangle<ops::tril>},
    {"Triu", numpy, triangle<ops::triu>},
    {"TrueDivide", numpy, both_floats<ops::true_divide>},
    {"Trunc", numpy, whole<ops::trunc>},
    {"Unstack", core, unstack},
    {"Var", numpy, reduce_floats<ops::var>},
    {"Vdot", numpy, product<ops::vdot>},
    {"Vsplit", numpy, vsplit},
    {"Vstack", numpy, of_list<ops::vstack>},
    {"Where", numpy, where},
    {"ZerosLike", numpy, zeros_like},
};

}  // namespace

std::span<const OperationDef> all_operations() { return table; }

}  // namespace keratin

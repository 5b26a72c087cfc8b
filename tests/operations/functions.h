#pragma once

#include "tests/operations/calls.h"

// How each operation that a file may hold is called from C++: on symbolic tensors and on values,
// under one name.
namespace keratin::operations {

struct Function {
  std::string_view class_name;
  Symbols (*on_symbols)(const Given<SymbolicTensor>&);
  Tree<Value> (*on_values)(const Given<Value>&);
};

template <class F>
constexpr Function row(std::string_view class_name, F) {
  return {class_name, [](const Given<SymbolicTensor>& c) { return tree(F{}(c)); },
          [](const Given<Value>& c) { return tree(F{}(c)); }};
}

constexpr Function functions[] = {
    row("Absolute", [](const auto& c) { return ops::absolute(c.x()); }),
    row("Add", [](const auto& c) { return ops::add(c.x(), c.x(1)); }),
    row("All", [](const auto& c) { return ops::all(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Amax", [](const auto& c) { return ops::amax(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Amin", [](const auto& c) { return ops::amin(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Any", [](const auto& c) { return ops::any(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Append", [](const auto& c) { return ops::append(c.x(), c.x(1), c.maybe_whole("axis")); }),
    row("Arccos", [](const auto& c) { return ops::arccos(c.x()); }),
    row("Arccosh", [](const auto& c) { return ops::arccosh(c.x()); }),
    row("Arcsin", [](const auto& c) { return ops::arcsin(c.x()); }),
    row("Arcsinh", [](const auto& c) { return ops::arcsinh(c.x()); }),
    row("Arctan", [](const auto& c) { return ops::arctan(c.x()); }),
    row("Arctan2", [](const auto& c) { return ops::arctan2(c.x(), c.x(1)); }),
    row("Arctanh", [](const auto& c) { return ops::arctanh(c.x()); }),
    row("Argmax",
        [](const auto& c) {
          return ops::argmax(c.x(), c.maybe_whole("axis"), c.flag("keepdims"));
        }),
    row("Argmin",
        [](const auto& c) {
          return ops::argmin(c.x(), c.maybe_whole("axis"), c.flag("keepdims"));
        }),
    row("Argsort", [](const auto& c) { return ops::argsort(c.x(), c.maybe_whole("axis")); }),
    row("Array", [](const auto& c) { return ops::array(c.x(), c.maybe_dtype()); }),
    row("ArraySplit",
        [](const auto& c) {
          return c.pieces(
              [&](const auto& how) { return tree(ops::array_split(c.x(), how, c.whole("axis"))); });
        }),
    row("Average", [](const auto& c) { return ops::average(c.x(), c.axes(), c.x(1, "weights")); }),
    row("BatchNorm",
        [](const auto& c) {
          return ops::batch_normalization(c.x(), c.x(1), c.x(2), c.whole("axis"), c.x(3), c.x(4),
                                          c.real("epsilon"));
        }),
    row("BitwiseAnd", [](const auto& c) { return ops::bitwise_and(c.x(), c.x(1)); }),
    row("BitwiseInvert", [](const auto& c) { return ops::bitwise_invert(c.x()); }),
    row("BitwiseLeftShift", [](const auto& c) { return ops::bitwise_left_shift(c.x(), c.x(1)); }),
    row("BitwiseNot", [](const auto& c) { return ops::bitwise_not(c.x()); }),
    row("BitwiseOr", [](const auto& c) { return ops::bitwise_or(c.x(), c.x(1)); }),
    row("BitwiseRightShift", [](const auto& c) { return ops::bitwise_right_shift(c.x(), c.x(1)); }),
    row("BitwiseXor", [](const auto& c) { return ops::bitwise_xor(c.x(), c.x(1)); }),
    row("BroadcastTo", [](const auto& c) { return ops::broadcast_to(c.x(), c.dims("shape")); }),
    row("Cast", [](const auto& c) { return ops::cast(c.x(), c.dtype()); }),
    row("Cbrt", [](const auto& c) { return ops::cbrt(c.x()); }),
    row("Ceil", [](const auto& c) { return ops::ceil(c.x()); }),
    row("Celu", [](const auto& c) { return ops::celu(c.x(), c.real("alpha")); }),
    row("Clip",
        [](const auto& c) { return ops::clip(c.x(), c.number("x_min"), c.number("x_max")); }),
    row("Concatenate", [](const auto& c) { return ops::concatenate(c.list(0), c.whole("axis")); }),
    row("Conjugate", [](const auto& c) { return ops::conjugate(c.x()); }),
    row("ConvertToTensor",
        [](const auto& c) { return ops::convert_to_tensor(c.x(), c.maybe_dtype()); }),
    row("Copy", [](const auto& c) { return ops::copy(c.x()); }),
    row("Cos", [](const auto& c) { return ops::cos(c.x()); }),
    row("Cosh", [](const auto& c) { return ops::cosh(c.x()); }),
    row("CountNonzero", [](const auto& c) { return ops::count_nonzero(c.x(), c.axes()); }),
    row("Cumprod",
        [](const auto& c) { return ops::cumprod(c.x(), c.maybe_whole("axis"), c.maybe_dtype()); }),
    row("Cumsum",
        [](const auto& c) { return ops::cumsum(c.x(), c.maybe_whole("axis"), c.maybe_dtype()); }),
    row("Deg2rad", [](const auto& c) { return ops::deg2rad(c.x()); }),
    row("Diagonal",
        [](const auto& c) {
          return ops::diagonal(c.x(), c.whole("offset"), c.whole("axis1"), c.whole("axis2"));
        }),
    row("Diff", [](const auto& c) { return ops::diff(c.x(), c.whole("n"), c.whole("axis")); }),
    row("Digitize", [](const auto& c) { return ops::digitize(c.x(), c.x(1)); }),
    row("Divide", [](const auto& c) { return ops::divide(c.x(), c.x(1)); }),
    row("DivideNoNan", [](const auto& c) { return ops::divide_no_nan(c.x(), c.x(1)); }),
    row("Dot", [](const auto& c) { return ops::dot(c.x(), c.x(1)); }),
    row("Dsplit",
        [](const auto& c) {
          return c.pieces([&](const auto& how) { return tree(ops::dsplit(c.x(), how)); });
        }),
    row("Dstack", [](const auto& c) { return ops::dstack(c.list(0)); }),
    row("Einsum", [](const auto& c) { return ops::einsum(c.text("subscripts"), c.all()); }),
    row("Elu", [](const auto& c) { return ops::elu(c.x(), c.real("alpha")); }),
    row("EmptyLike", [](const auto& c) { return ops::empty_like(c.x(), c.maybe_dtype()); }),
    row("Equal", [](const auto& c) { return ops::equal(c.x(), c.x(1)); }),
    row("Erf", [](const auto& c) { return ops::erf(c.x()); }),
    row("Erfc", [](const auto& c) { return ops::erfc(c.x()); }),
    row("Erfinv", [](const auto& c) { return ops::erfinv(c.x()); }),
    row("Exp", [](const auto& c) { return ops::exp(c.x()); }),
    row("Exp2", [](const auto& c) { return ops::exp2(c.x()); }),
    row("ExpandDims", [](const auto& c) { return ops::expand_dims(c.x(), c.sizes("axis")); }),
    row("Expm1", [](const auto& c) { return ops::expm1(c.x()); }),
    row("Fabs", [](const auto& c) { return ops::fabs(c.x()); }),
    row("Flip", [](const auto& c) { return ops::flip(c.x(), c.axes()); }),
    row("Fliplr", [](const auto& c) { return ops::fliplr(c.x()); }),
    row("Flipud", [](const auto& c) { return ops::flipud(c.x()); }),
    row("Floor", [](const auto& c) { return ops::floor(c.x()); }),
    row("FloorDivide", [](const auto& c) { return ops::floor_divide(c.x(), c.x(1)); }),
    row("Fmax", [](const auto& c) { return ops::fmax(c.x(), c.x(1)); }),
    row("Fmin", [](const auto& c) { return ops::fmin(c.x(), c.x(1)); }),
    row("Fmod", [](const auto& c) { return ops::fmod(c.x(), c.x(1)); }),
    row("FullLike", [](const auto& c) { return ops::full_like(c.x(), c.x(1), c.maybe_dtype()); }),
    row("Gelu", [](const auto& c) { return ops::gelu(c.x(), c.flag("approximate")); }),
    row("GetItem", [](const auto& c) { return ops::get_item(c.x(), c.index()); }),
    row("Glu", [](const auto& c) { return ops::glu(c.x(), c.whole("axis")); }),
    row("Greater", [](const auto& c) { return ops::greater(c.x(), c.x(1)); }),
    row("GreaterEqual", [](const auto& c) { return ops::greater_equal(c.x(), c.x(1)); }),
    row("HardShrink", [](const auto& c) { return ops::hard_shrink(c.x(), c.number("threshold")); }),
    row("HardSigmoid", [](const auto& c) { return ops::hard_sigmoid(c.x()); }),
    row("HardSilu", [](const auto& c) { return ops::hard_silu(c.x()); }),
    row("HardTanh", [](const auto& c) { return ops::hard_tanh(c.x()); }),
    row("Heaviside", [](const auto& c) { return ops::heaviside(c.x(), c.x(1)); }),
    row("Hsplit",
        [](const auto& c) {
          return c.pieces([&](const auto& how) { return tree(ops::hsplit(c.x(), how)); });
        }),
    row("Hstack", [](const auto& c) { return ops::hstack(c.list(0)); }),
    row("Hypot", [](const auto& c) { return ops::hypot(c.x(), c.x(1)); }),
    row("InTopK", [](const auto& c) { return ops::in_top_k(c.x(), c.x(1), c.whole("k")); }),
    row("Inner", [](const auto& c) { return ops::inner(c.x(), c.x(1)); }),
    row("IsIn",
        [](const auto& c) {
          return ops::isin(c.x(), c.x(1), c.flag("assume_unique"), c.flag("invert"));
        }),
    row("Isclose",
        [](const auto& c) {
          return ops::isclose(c.x(), c.x(1), c.number_argument(2), c.number_argument(3),
                              c.flag("equal_nan"));
        }),
    row("Isfinite", [](const auto& c) { return ops::isfinite(c.x()); }),
    row("Isinf", [](const auto& c) { return ops::isinf(c.x()); }),
    row("Isnan", [](const auto& c) { return ops::isnan(c.x()); }),
    row("Isneginf", [](const auto& c) { return ops::isneginf(c.x()); }),
    row("Isposinf", [](const auto& c) { return ops::isposinf(c.x()); }),
    row("Isreal", [](const auto& c) { return ops::isreal(c.x()); }),
    row("LayerNorm", [](const auto& c) { return layer_norm(c); }),
    row("Ldexp", [](const auto& c) { return ops::ldexp(c.x(), c.x(1)); }),
    row("LeakyRelu",
        [](const auto& c) { return ops::leaky_relu(c.x(), c.number("negative_slope")); }),
    row("LeftShift", [](const auto& c) { return ops::left_shift(c.x(), c.x(1)); }),
    row("Less", [](const auto& c) { return ops::less(c.x(), c.x(1)); }),
    row("LessEqual", [](const auto& c) { return ops::less_equal(c.x(), c.x(1)); }),
    row("Log", [](const auto& c) { return ops::log(c.x()); }),
    row("Log10", [](const auto& c) { return ops::log10(c.x()); }),
    row("Log1p", [](const auto& c) { return ops::log1p(c.x()); }),
    row("Log2", [](const auto& c) { return ops::log2(c.x()); }),
    row("LogSigmoid", [](const auto& c) { return ops::log_sigmoid(c.x()); }),
    row("LogSoftmax", [](const auto& c) { return ops::log_softmax(c.x(), c.axes()); }),
    row("Logaddexp", [](const auto& c) { return ops::logaddexp(c.x(), c.x(1)); }),
    row("Logaddexp2", [](const auto& c) { return ops::logaddexp2(c.x(), c.x(1)); }),
    row("LogicalAnd", [](const auto& c) { return ops::logical_and(c.x(), c.x(1)); }),
    row("LogicalNot", [](const auto& c) { return ops::logical_not(c.x()); }),
    row("LogicalOr", [](const auto& c) { return ops::logical_or(c.x(), c.x(1)); }),
    row("LogicalXor", [](const auto& c) { return ops::logical_xor(c.x(), c.x(1)); }),
    row("Logsumexp",
        [](const auto& c) { return ops::logsumexp(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Matmul", [](const auto& c) { return ops::matmul(c.x(), c.x(1)); }),
    row("Max", [](const auto& c) { return max(c); }),
    row("Maximum", [](const auto& c) { return ops::maximum(c.x(), c.x(1)); }),
    row("Mean", [](const auto& c) { return ops::mean(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Meshgrid", [](const auto& c) { return ops::meshgrid(c.all(), c.text("indexing")); }),
    row("Min", [](const auto& c) { return min(c); }),
    row("Minimum", [](const auto& c) { return ops::minimum(c.x(), c.x(1)); }),
    row("Mod", [](const auto& c) { return ops::mod(c.x(), c.x(1)); }),
    row("Moments",
        [](const auto& c) {
          return ops::moments(c.x(), c.listed_axes("axes"), c.flag("keepdims"));
        }),
    row("Moveaxis",
        [](const auto& c) {
          return ops::moveaxis(c.x(), c.sizes("source"), c.sizes("destination"));
        }),
    row("MultiHot",
        [](const auto& c) {
          return ops::multi_hot(c.x(), c.whole("num_classes"), c.whole("axis"), c.dtype());
        }),
    row("Multiply", [](const auto& c) { return ops::multiply(c.x(), c.x(1)); }),
    row("NanToNum",
        [](const auto& c) {
          return ops::nan_to_num(c.x(), c.real("nan"), c.maybe_real("posinf"),
                                 c.maybe_real("neginf"));
        }),
    row("Nancumprod",
        [](const auto& c) {
          return ops::nancumprod(c.x(), c.maybe_whole("axis"), c.maybe_dtype());
        }),
    row("Nancumsum",
        [](const auto& c) {
          return ops::nancumsum(c.x(), c.maybe_whole("axis"), c.maybe_dtype());
        }),
    row("Nanmax", [](const auto& c) { return ops::nanmax(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Nanmean", [](const auto& c) { return ops::nanmean(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Nanmin", [](const auto& c) { return ops::nanmin(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Nanprod", [](const auto& c) { return ops::nanprod(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Nanstd", [](const auto& c) { return ops::nanstd(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Nansum", [](const auto& c) { return ops::nansum(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Nanvar", [](const auto& c) { return ops::nanvar(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Negative", [](const auto& c) { return ops::negative(c.x()); }),
    row("Norm", [](const auto& c) { return norm(c); }),
    row("Normalize", [](const auto& c) { return normalize(c); }),
    row("NotEqual", [](const auto& c) { return ops::not_equal(c.x(), c.x(1)); }),
    row("OneHot",
        [](const auto& c) {
          return ops::one_hot(c.x(), c.whole("num_classes"), c.whole("axis"), c.dtype());
        }),
    row("OnesLike", [](const auto& c) { return ops::ones_like(c.x(), c.maybe_dtype()); }),
    row("Outer", [](const auto& c) { return ops::outer(c.x(), c.x(1)); }),
    row("PSNR", [](const auto& c) { return ops::psnr(c.x(), c.x(1), c.real("max_val")); }),
    row("Pad", [](const auto& c) { return pad(c); }),
    row("Power", [](const auto& c) { return ops::power(c.x(), c.x(1)); }),
    row("Prod", [](const auto& c) { return ops::prod(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Ptp", [](const auto& c) { return ops::ptp(c.x(), c.axes(), c.flag("keepdims")); }),
    row("RMSNorm", [](const auto& c) { return rms_norm(c); }),
    row("Rad2deg", [](const auto& c) { return ops::rad2deg(c.x()); }),
    row("Ravel", [](const auto& c) { return ops::ravel(c.x()); }),
    row("Real", [](const auto& c) { return ops::real(c.x()); }),
    row("Reciprocal", [](const auto& c) { return ops::reciprocal(c.x()); }),
    row("Relu", [](const auto& c) { return ops::relu(c.x()); }),
    row("Relu6", [](const auto& c) { return ops::relu6(c.x()); }),
    row("Repeat",
        [](const auto& c) {
          return ops::repeat(c.x(), c.sizes("repeats"), c.maybe_whole("axis"));
        }),
    row("Reshape", [](const auto& c) { return ops::reshape(c.x(), c.dims("newshape")); }),
    row("RightShift", [](const auto& c) { return ops::right_shift(c.x(), c.x(1)); }),
    row("Roll", [](const auto& c) { return roll(c); }),
    row("Rot90", [](const auto& c) { return ops::rot90(c.x(), c.whole("k"), c.dims("axes")); }),
    row("Round", [](const auto& c) { return ops::round(c.x(), c.whole("decimals")); }),
    row("Rsqrt", [](const auto& c) { return ops::rsqrt(c.x()); }),
    row("SaturateCast", [](const auto& c) { return ops::saturate_cast(c.x(), c.dtype()); }),
    row("SearchSorted",
        [](const auto& c) { return ops::searchsorted(c.x(), c.x(1), c.text("side")); }),
    row("Select", [](const auto& c) { return ops::select(c.list(0), c.list(1), c.x(2)); }),
    row("Selu", [](const auto& c) { return ops::selu(c.x()); }),
    row("Sigmoid", [](const auto& c) { return ops::sigmoid(c.x()); }),
    row("Sign", [](const auto& c) { return ops::sign(c.x()); }),
    row("Signbit", [](const auto& c) { return ops::signbit(c.x()); }),
    row("Silu", [](const auto& c) { return ops::silu(c.x()); }),
    row("Sin", [](const auto& c) { return ops::sin(c.x()); }),
    row("Sinc", [](const auto& c) { return ops::sinc(c.x()); }),
    row("Sinh", [](const auto& c) { return ops::sinh(c.x()); }),
    row("Slice", [](const auto& c) { return ops::slice(c.x(), c.x(1), c.dims("shape")); }),
    row("SliceUpdate", [](const auto& c) { return ops::slice_update(c.x(), c.x(1), c.x(2)); }),
    row("SoftShrink", [](const auto& c) { return ops::soft_shrink(c.x(), c.number("threshold")); }),
    row("Softmax", [](const auto& c) { return ops::softmax(c.x(), c.axes()); }),
    row("Softplus", [](const auto& c) { return ops::softplus(c.x()); }),
    row("Softsign", [](const auto& c) { return ops::softsign(c.x()); }),
    row("Sort", [](const auto& c) { return ops::sort(c.x(), c.maybe_whole("axis")); }),
    row("SparsePlus", [](const auto& c) { return ops::sparse_plus(c.x()); }),
    row("SparseSigmoid", [](const auto& c) { return ops::sparse_sigmoid(c.x()); }),
    row("Sparsemax", [](const auto& c) { return ops::sparsemax(c.x(), c.whole("axis")); }),
    row("Split",
        [](const auto& c) {
          return c.pieces(
              [&](const auto& how) { return tree(ops::split(c.x(), how, c.whole("axis"))); });
        }),
    row("Sqrt", [](const auto& c) { return ops::sqrt(c.x()); }),
    row("Square", [](const auto& c) { return ops::square(c.x()); }),
    row("Squareplus", [](const auto& c) { return ops::squareplus(c.x(), c.real("b")); }),
    row("Squeeze", [](const auto& c) { return squeeze(c); }),
    row("Stack", [](const auto& c) { return ops::stack(c.list(0), c.whole("axis")); }),
    row("Std", [](const auto& c) { return ops::std(c.x(), c.axes(), c.flag("keepdims")); }),
    row("StopGradient", [](const auto& c) { return ops::stop_gradient(c.x()); }),
    row("Subtract", [](const auto& c) { return ops::subtract(c.x(), c.x(1)); }),
    row("Sum", [](const auto& c) { return ops::sum(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Swapaxes",
        [](const auto& c) { return ops::swapaxes(c.x(), c.whole("axis1"), c.whole("axis2")); }),
    row("Take", [](const auto& c) { return ops::take(c.x(), c.x(1), c.maybe_whole("axis")); }),
    row("TakeAlongAxis",
        [](const auto& c) { return ops::take_along_axis(c.x(), c.x(1), c.maybe_whole("axis")); }),
    row("Tan", [](const auto& c) { return ops::tan(c.x()); }),
    row("Tanh", [](const auto& c) { return ops::tanh(c.x()); }),
    row("TanhShrink", [](const auto& c) { return ops::tanh_shrink(c.x()); }),
    row("Tensordot", [](const auto& c) { return tensordot(c); }),
    row("Threshold",
        [](const auto& c) {
          return ops::threshold(c.x(), c.number("threshold"), c.number("default_value"));
        }),
    row("Tile", [](const auto& c) { return ops::tile(c.x(), c.dims("repeats")); }),
    row("TopK", [](const auto& c) { return ops::top_k(c.x(), c.whole("k")); }),
    row("Trace",
        [](const auto& c) {
          return ops::trace(c.x(), c.whole("offset"), c.whole("axis1"), c.whole("axis2"));
        }),
    row("Transpose", [](const auto& c) { return transpose(c); }),
    row("Tril", [](const auto& c) { return ops::tril(c.x(), c.whole("k")); }),
    row("Triu", [](const auto& c) { return ops::triu(c.x(), c.whole("k")); }),
    row("TrueDivide", [](const auto& c) { return ops::true_divide(c.x(), c.x(1)); }),
    row("Trunc", [](const auto& c) { return ops::trunc(c.x()); }),
    row("Unstack",
        [](const auto& c) { return ops::unstack(c.x(), c.maybe_whole("num"), c.whole("axis")); }),
    row("Var", [](const auto& c) { return ops::var(c.x(), c.axes(), c.flag("keepdims")); }),
    row("Vdot", [](const auto& c) { return ops::vdot(c.x(), c.x(1)); }),
    row("Vsplit",
        [](const auto& c) {
          return c.pieces([&](const auto& how) { return tree(ops::vsplit(c.x(), how)); });
        }),
    row("Vstack", [](const auto& c) { return ops::vstack(c.list(0)); }),
    row("Where", [](const auto& c) { return ops::where(c.x(), c.x(1), c.x(2)); }),
    row("ZerosLike", [](const auto& c) { return ops::zeros_like(c.x()); }),
};

}  // namespace keratin::operations

#include "keratin/ops/pointwise.h"

#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::ops {

// x, but constant to differentiation. It decomposes to nothing once gradients are taken.
const OpDef stop_gradient_op{.name = "stop_gradient",
                             .arity = 1,
                             .infer = [](const Node& n) -> Types { return {n.in().type()}; },
                             .decompose = [](const Node& n) -> Values { return {n.in()}; },
                             .grad = no_gradient};

Value add(Value a, Value b) { return emit(ScalarOp::add, {a, b}); }
Value subtract(Value a, Value b) { return emit(ScalarOp::sub, {a, b}); }
Value multiply(Value a, Value b) { return emit(ScalarOp::mul, {a, b}); }
Value divide(Value a, Value b) { return emit(ScalarOp::div, {a, b}); }
Value mod(Value a, Value b) { return emit(ScalarOp::mod, {a, b}); }
Value floor_divide(Value a, Value b) { return emit(ScalarOp::floor_div, {a, b}); }
Value maximum(Value a, Value b) { return emit(ScalarOp::maximum, {a, b}); }
Value minimum(Value a, Value b) { return emit(ScalarOp::minimum, {a, b}); }
Value power(Value a, Value b) { return emit(ScalarOp::pow, {a, b}); }
Value arctan2(Value a, Value b) { return emit(ScalarOp::atan2, {a, b}); }
Value equal(Value a, Value b) { return emit(ScalarOp::equal, {a, b}); }
Value not_equal(Value a, Value b) { return emit(ScalarOp::not_equal, {a, b}); }
Value less(Value a, Value b) { return emit(ScalarOp::less, {a, b}); }
Value less_equal(Value a, Value b) { return emit(ScalarOp::less_equal, {a, b}); }
Value greater(Value a, Value b) { return emit(ScalarOp::greater, {a, b}); }
Value greater_equal(Value a, Value b) { return emit(ScalarOp::greater_equal, {a, b}); }
Value bitwise_and(Value a, Value b) { return emit(ScalarOp::bit_and, {a, b}); }
Value bitwise_or(Value a, Value b) { return emit(ScalarOp::bit_or, {a, b}); }
Value bitwise_xor(Value a, Value b) { return emit(ScalarOp::bit_xor, {a, b}); }
Value bitwise_not(Value a) { return emit(ScalarOp::bit_not, {a}); }
Value bitwise_left_shift(Value a, Value b) { return emit(ScalarOp::shift_left, {a, b}); }
Value bitwise_right_shift(Value a, Value b) { return emit(ScalarOp::shift_right, {a, b}); }
Value shift_right_logical(Value a, Value b) { return emit(ScalarOp::shift_right_logical, {a, b}); }
Value where(Value condition, Value a, Value b) { return emit(ScalarOp::select, {condition, a, b}); }
Value cast(Value x, DType dtype) {
  return x.dtype() == dtype ? x : emit(ScalarOp::cast, {x}, CastAttrs{dtype});
}
Value clip(Value x, double low, double high) {
  return minimum(maximum(x, scalar_like(x, low)), scalar_like(x, high));
}
Value negative(Value x) { return emit(ScalarOp::neg, {x}); }
Value abs(Value x) { return emit(ScalarOp::abs, {x}); }
Value sign(Value x) { return emit(ScalarOp::sign, {x}); }
Value relu(Value x) { return emit(ScalarOp::relu, {x}); }
Value floor(Value x) { return emit(ScalarOp::floor, {x}); }
Value ceil(Value x) { return emit(ScalarOp::ceil, {x}); }
Value round(Value x) { return emit(ScalarOp::round, {x}); }
Value trunc(Value x) { return emit(ScalarOp::trunc, {x}); }
Value sqrt(Value x) { return emit(ScalarOp::sqrt, {x}); }
Value rsqrt(Value x) { return emit(ScalarOp::rsqrt, {x}); }
Value exp(Value x) { return emit(ScalarOp::exp, {x}); }
Value expm1(Value x) { return emit(ScalarOp::expm1, {x}); }
Value log(Value x) { return emit(ScalarOp::log, {x}); }
Value log1p(Value x) { return emit(ScalarOp::log1p, {x}); }
Value sin(Value x) { return emit(ScalarOp::sin, {x}); }
Value cos(Value x) { return emit(ScalarOp::cos, {x}); }
Value tan(Value x) { return emit(ScalarOp::tan, {x}); }
Value arcsin(Value x) { return emit(ScalarOp::asin, {x}); }
Value arccos(Value x) { return emit(ScalarOp::acos, {x}); }
Value arctan(Value x) { return emit(ScalarOp::atan, {x}); }
Value sinh(Value x) { return emit(ScalarOp::sinh, {x}); }
Value cosh(Value x) { return emit(ScalarOp::cosh, {x}); }
Value tanh(Value x) { return emit(ScalarOp::tanh, {x}); }
Value arcsinh(Value x) { return emit(ScalarOp::asinh, {x}); }
Value arccosh(Value x) { return emit(ScalarOp::acosh, {x}); }
Value arctanh(Value x) { return emit(ScalarOp::atanh, {x}); }
Value erf(Value x) { return emit(ScalarOp::erf, {x}); }
Value erfinv(Value x) { return emit(ScalarOp::erfinv, {x}); }
Value sigmoid(Value x) { return emit(ScalarOp::sigmoid, {x}); }
Value isnan(Value x) { return emit(ScalarOp::is_nan, {x}); }
Value isinf(Value x) { return emit(ScalarOp::is_inf, {x}); }
Value isfinite(Value x) { return emit(ScalarOp::is_finite, {x}); }
Value square(Value x) { return x * x; }
Value reciprocal(Value x) { return 1.0 / x; }
Value stop_gradient(Value x) { return emit(stop_gradient_op, {x}); }
Value scalar_like(Value like, double value) {
  return constant(like.block(), Tensor::scalar(like.dtype(), value));
}

}  // namespace keratin::ops

namespace keratin {

using ops::scalar_like;

Value operator+(Value a, Value b) { return ops::add(a, b); }
Value operator-(Value a, Value b) { return ops::subtract(a, b); }
Value operator*(Value a, Value b) { return ops::multiply(a, b); }
Value operator/(Value a, Value b) { return ops::divide(a, b); }
Value operator-(Value x) { return ops::negative(x); }
Value operator+(Value a, double b) { return a + scalar_like(a, b); }
Value operator-(Value a, double b) { return a - scalar_like(a, b); }
Value operator*(Value a, double b) { return a * scalar_like(a, b); }
Value operator/(Value a, double b) { return a / scalar_like(a, b); }
Value operator+(double a, Value b) { return scalar_like(b, a) + b; }
Value operator-(double a, Value b) { return scalar_like(b, a) - b; }
Value operator*(double a, Value b) { return scalar_like(b, a) * b; }
Value operator/(double a, Value b) { return scalar_like(b, a) / b; }
Value operator<(Value a, Value b) { return ops::less(a, b); }
Value operator<=(Value a, Value b) { return ops::less_equal(a, b); }
Value operator>(Value a, Value b) { return ops::greater(a, b); }
Value operator>=(Value a, Value b) { return ops::greater_equal(a, b); }
Value operator<(Value a, double b) { return a < scalar_like(a, b); }
Value operator<=(Value a, double b) { return a <= scalar_like(a, b); }
Value operator>(Value a, double b) { return a > scalar_like(a, b); }
Value operator>=(Value a, double b) { return a >= scalar_like(a, b); }
Value operator&(Value a, Value b) { return ops::bitwise_and(a, b); }
Value operator|(Value a, Value b) { return ops::bitwise_or(a, b); }
Value operator^(Value a, Value b) { return ops::bitwise_xor(a, b); }
Value operator!(Value x) { return ops::bitwise_not(x); }

}  // namespace keratin

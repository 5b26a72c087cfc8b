#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

// Pointwise ops: out[i] = f(a[i], b[i]). Inputs are broadcast as in NumPy and must have one dtype.
namespace keratin::ops {

Value add(Value a, Value b);
Value sub(Value a, Value b);
Value mul(Value a, Value b);
Value div(Value a, Value b);        // integers: truncated, x / 0 = 0
Value mod(Value a, Value b);        // the divisor's sign
Value floor_div(Value a, Value b);  // floor(a / b)
Value maximum(Value a, Value b);    // NaN wins
Value minimum(Value a, Value b);
Value pow(Value a, Value b);
Value atan2(Value a, Value b);

Value equal(Value a, Value b);
Value not_equal(Value a, Value b);
Value less(Value a, Value b);
Value less_equal(Value a, Value b);
Value greater(Value a, Value b);
Value greater_equal(Value a, Value b);

// On bool these are the logical ops, on integers the bitwise ones.
Value bit_and(Value a, Value b);
Value bit_or(Value a, Value b);
Value bit_xor(Value a, Value b);
Value bit_not(Value a);
Value shift_left(Value a, Value b);
Value shift_right(Value a, Value b);          // keeps the sign
Value shift_right_logical(Value a, Value b);  // fills with zeros

struct CastAttrs {
  DType dtype = DType::f32;
  static constexpr auto fields = field_list(field("dtype", &CastAttrs::dtype));
};

Value select(Value condition, Value a, Value b);  // condition ? a : b
Value cast(Value x, DType dtype);
Value clip(Value x, double low, double high);

Value neg(Value x);
Value abs(Value x);
Value sign(Value x);
Value relu(Value x);  // max(x, 0)
Value floor(Value x);
Value ceil(Value x);
Value round(Value x);  // half to even
Value trunc(Value x);
Value sqrt(Value x);
Value rsqrt(Value x);  // 1 / sqrt(x)
Value square(Value x);
Value reciprocal(Value x);
Value exp(Value x);
Value expm1(Value x);
Value log(Value x);
Value log1p(Value x);
Value sin(Value x);
Value cos(Value x);
Value tan(Value x);
Value asin(Value x);
Value acos(Value x);
Value atan(Value x);
Value sinh(Value x);
Value cosh(Value x);
Value tanh(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);
Value erf(Value x);
Value erfinv(Value x);
Value sigmoid(Value x);  // 1 / (1 + exp(-x))
Value is_nan(Value x);
Value is_inf(Value x);
Value is_finite(Value x);

// x itself, through which no gradient flows.
Value stop_gradient(Value x);

// A scalar of the dtype of `like`, in its block.
Value scalar_like(Value like, double value);

}  // namespace keratin::ops

namespace keratin {

// In Value's own namespace, so that they are found wherever a Value is.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value x);
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator/(Value a, double b);
Value operator+(double a, Value b);
Value operator-(double a, Value b);
Value operator*(double a, Value b);
Value operator/(double a, Value b);
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>(Value a, Value b);
Value operator>=(Value a, Value b);
Value operator<(Value a, double b);
Value operator<=(Value a, double b);
Value operator>(Value a, double b);
Value operator>=(Value a, double b);
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator!(Value x);

}  // namespace keratin

#pragma GCC visibility pop

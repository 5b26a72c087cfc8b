#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Pointwise ops: out[i] = f(a[i], b[i]). Inputs are broadcast as in NumPy and must have one dtype.
namespace keratin::ops {

KERATIN_API Value add(Value a, Value b);
KERATIN_API Value subtract(Value a, Value b);
KERATIN_API Value multiply(Value a, Value b);
KERATIN_API Value divide(Value a, Value b);        // integers: truncated, x / 0 = 0
KERATIN_API Value mod(Value a, Value b);           // the divisor's sign
KERATIN_API Value floor_divide(Value a, Value b);  // floor(a / b)
KERATIN_API Value maximum(Value a, Value b);       // NaN wins
KERATIN_API Value minimum(Value a, Value b);
KERATIN_API Value power(Value a, Value b);
KERATIN_API Value arctan2(Value a, Value b);

KERATIN_API Value equal(Value a, Value b);
KERATIN_API Value not_equal(Value a, Value b);
KERATIN_API Value less(Value a, Value b);
KERATIN_API Value less_equal(Value a, Value b);
KERATIN_API Value greater(Value a, Value b);
KERATIN_API Value greater_equal(Value a, Value b);

// On bool these are the logical ops, on integers the bitwise ones.
KERATIN_API Value bitwise_and(Value a, Value b);
KERATIN_API Value bitwise_or(Value a, Value b);
KERATIN_API Value bitwise_xor(Value a, Value b);
KERATIN_API Value bitwise_not(Value a);
KERATIN_API Value bitwise_left_shift(Value a, Value b);
KERATIN_API Value bitwise_right_shift(Value a, Value b);  // keeps the sign
KERATIN_API Value shift_right_logical(Value a, Value b);  // fills with zeros

struct KERATIN_API CastAttrs {
  DType dtype = DType::f32;
  static constexpr auto fields = field_list(field("dtype", &CastAttrs::dtype));
};

KERATIN_API Value where(Value condition, Value a, Value b);  // condition ? a : b
KERATIN_API Value cast(Value x, DType dtype);
KERATIN_API Value clip(Value x, double low, double high);

KERATIN_API Value negative(Value x);
KERATIN_API Value abs(Value x);
KERATIN_API Value sign(Value x);
KERATIN_API Value relu(Value x);  // max(x, 0)
KERATIN_API Value floor(Value x);
KERATIN_API Value ceil(Value x);
KERATIN_API Value round(Value x);  // half to even
KERATIN_API Value trunc(Value x);
KERATIN_API Value sqrt(Value x);
KERATIN_API Value rsqrt(Value x);  // 1 / sqrt(x)
KERATIN_API Value square(Value x);
KERATIN_API Value reciprocal(Value x);
KERATIN_API Value exp(Value x);
KERATIN_API Value expm1(Value x);
KERATIN_API Value log(Value x);
KERATIN_API Value log1p(Value x);
KERATIN_API Value sin(Value x);
KERATIN_API Value cos(Value x);
KERATIN_API Value tan(Value x);
KERATIN_API Value arcsin(Value x);
KERATIN_API Value arccos(Value x);
KERATIN_API Value arctan(Value x);
KERATIN_API Value sinh(Value x);
KERATIN_API Value cosh(Value x);
KERATIN_API Value tanh(Value x);
KERATIN_API Value arcsinh(Value x);
KERATIN_API Value arccosh(Value x);
KERATIN_API Value arctanh(Value x);
KERATIN_API Value erf(Value x);
KERATIN_API Value erfinv(Value x);
KERATIN_API Value sigmoid(Value x);  // 1 / (1 + exp(-x))
KERATIN_API Value isnan(Value x);
KERATIN_API Value isinf(Value x);
KERATIN_API Value isfinite(Value x);

// x itself, through which no gradient flows.
KERATIN_API Value stop_gradient(Value x);

// A scalar of the dtype of `like`, in its block.
KERATIN_API Value scalar_like(Value like, double value);

}  // namespace keratin::ops

namespace keratin {

// In Value's own namespace, so that they are found wherever a Value is.
KERATIN_API Value operator+(Value a, Value b);
KERATIN_API Value operator-(Value a, Value b);
KERATIN_API Value operator*(Value a, Value b);
KERATIN_API Value operator/(Value a, Value b);
KERATIN_API Value operator-(Value x);
KERATIN_API Value operator+(Value a, double b);
KERATIN_API Value operator-(Value a, double b);
KERATIN_API Value operator*(Value a, double b);
KERATIN_API Value operator/(Value a, double b);
KERATIN_API Value operator+(double a, Value b);
KERATIN_API Value operator-(double a, Value b);
KERATIN_API Value operator*(double a, Value b);
KERATIN_API Value operator/(double a, Value b);
KERATIN_API Value operator<(Value a, Value b);
KERATIN_API Value operator<=(Value a, Value b);
KERATIN_API Value operator>(Value a, Value b);
KERATIN_API Value operator>=(Value a, Value b);
KERATIN_API Value operator<(Value a, double b);
KERATIN_API Value operator<=(Value a, double b);
KERATIN_API Value operator>(Value a, double b);
KERATIN_API Value operator>=(Value a, double b);
KERATIN_API Value operator&(Value a, Value b);
KERATIN_API Value operator|(Value a, Value b);
KERATIN_API Value operator^(Value a, Value b);
KERATIN_API Value operator!(Value x);

}  // namespace keratin

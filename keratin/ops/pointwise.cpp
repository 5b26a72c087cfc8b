#include "keratin/ops/pointwise.h"

#include <numbers>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar_table.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

Shape broadcast_inputs(const Node& n, size_t first = 0) {
  Shape shape = n.in(first).shape();
  for (size_t i = first + 1; i < n.input_count(); ++i)
    shape = broadcast(shape, n.in(i).shape(), n.name());
  return shape;
}

void require_one_dtype(const Node& n, size_t first = 0) {
  for (size_t i = first + 1; i < n.input_count(); ++i)
    require(n.in(i).dtype() == n.in(first).dtype(), n.name(), ": inputs must have one dtype, got ",
            n.in(first).type(), " and ", n.in(i).type());
}

// One dtype, which the functor takes, in and out; comparisons and tests give bools.
Types infer_uniform(const Node& n) {
  const ScalarOp op = *n.op().scalar;
  const ScalarDef& def = scalar_def(op);
  require_one_dtype(n);
  require(takes(op, n.in().dtype()), n.name(), ": expected ", def.expected, ", got ",
          n.in().type());
  return {{def.gives_boolean ? DType::boolean : n.in().dtype(), broadcast_inputs(n)}};
}

Types infer_select(const Node& n) {
  require(n.in(0).dtype() == DType::boolean, "select: the condition must be bool, got ",
          n.in(0).type());
  require_one_dtype(n, 1);
  return {{n.in(1).dtype(), broadcast_inputs(n)}};
}

Types infer_cast(const Node& n) {
  const DType dtype = n.attr<CastAttrs>().dtype;
  require(dtype != DType::string, "cast: ", n.in().type(), " cannot become strings");
  return {{dtype, n.in().shape()}};
}

}  // namespace

Value sum_to(Value dy, const Shape& shape) {
  if (dy.shape() == shape) return dy;
  Dims axes;
  const int64_t extra = dy.rank() - shape.rank();
  for (int64_t axis = 0; axis < dy.rank(); ++axis)
    if (axis < extra || (shape[axis - extra] == 1 && dy.shape()[axis] != 1)) axes.push_back(axis);
  return reshape(axes.empty() ? dy : sum(dy, axes), shape.dims());
}

Values unbroadcast(const Node& n, Value da, Value db) {
  return {sum_to(da, n.in(0).shape()), sum_to(db, n.in(1).shape())};
}

Values no_gradient(const Node& n, const Values&) { return Values(n.input_count()); }

namespace {

// The larger (smaller) input gets the gradient; equal ones share it, as in JAX and PyTorch.
Values maximum_minimum_grad(const Node& n, const Values& dy) {
  const Value a_wins = cast(equal(n.in(0), n.out()), n.type().dtype);
  const Value b_wins = cast(equal(n.in(1), n.out()), n.type().dtype);
  const Value share = dy[0] / (a_wins + b_wins);
  return unbroadcast(n, share * a_wins, share * b_wins);
}

constexpr double two_over_sqrt_pi = 2 * std::numbers::inv_sqrtpi;

struct Gradient {
  ScalarOp op;
  Values (*of)(const Node&, const Values& dy);
};

// The comment on a row is the function itself.
constexpr Gradient gradients[] = {
    // a + b
    {ScalarOp::add, [](const Node& n, const Values& dy) { return unbroadcast(n, dy[0], dy[0]); }},
    // a - b
    {ScalarOp::sub, [](const Node& n, const Values& dy) { return unbroadcast(n, dy[0], -dy[0]); }},
    // a · b
    {ScalarOp::mul,
     [](const Node& n, const Values& dy) {
       return unbroadcast(n, dy[0] * n.in(1), dy[0] * n.in(0));
     }},
    // a / b
    {ScalarOp::div,
     [](const Node& n, const Values& dy) {
       const Value da = dy[0] / n.in(1);
       return unbroadcast(n, da, -(da * n.out()));
     }},
    // a - b · floor(a / b)
    {ScalarOp::mod,
     [](const Node& n, const Values& dy) {
       return unbroadcast(n, dy[0], -(dy[0] * floor_divide(n.in(0), n.in(1))));
     }},
    {ScalarOp::floor_div, no_gradient},
    // a > b ? a : b
    {ScalarOp::maximum, maximum_minimum_grad},
    // a < b ? a : b
    {ScalarOp::minimum, maximum_minimum_grad},
    // a ^ b; d/da = b · a ^ (b - 1), d/db = a ^ b · log a where a > 0, else 0
    {ScalarOp::pow,
     [](const Node& n, const Values& dy) {
       const Value a = n.in(0), b = n.in(1);
       const Value positive = a > 0.0;
       const Value log_a =
           where(positive, log(where(positive, a, scalar_like(a, 1))), scalar_like(a, 0));
       // b = 0 must give 0 even where a ^ -1 is infinite.
       const Value da =
           where(equal(b, scalar_like(b, 0)), scalar_like(a, 0), dy[0] * b * power(a, b - 1.0));
       return unbroadcast(n, da, dy[0] * n.out() * log_a);
     }},
    // the angle of (b, a)
    {ScalarOp::atan2,
     [](const Node& n, const Values& dy) {
       const Value scaled = dy[0] / (square(n.in(0)) + square(n.in(1)));
       return unbroadcast(n, scaled * n.in(1), -(scaled * n.in(0)));
     }},
    {ScalarOp::equal, no_gradient},
    {ScalarOp::not_equal, no_gradient},
    {ScalarOp::less, no_gradient},
    {ScalarOp::less_equal, no_gradient},
    {ScalarOp::greater, no_gradient},
    {ScalarOp::greater_equal, no_gradient},
    {ScalarOp::bit_and, no_gradient},
    {ScalarOp::bit_or, no_gradient},
    {ScalarOp::bit_xor, no_gradient},
    {ScalarOp::bit_not, no_gradient},
    {ScalarOp::shift_left, no_gradient},
    {ScalarOp::shift_right, no_gradient},
    {ScalarOp::shift_right_logical, no_gradient},
    // condition ? a : b
    {ScalarOp::select,
     [](const Node& n, const Values& dy) -> Values {
       const Value zero = scalar_like(dy[0], 0);
       return {Value(), sum_to(where(n.in(0), dy[0], zero), n.in(1).shape()),
               sum_to(where(n.in(0), zero, dy[0]), n.in(2).shape())};
     }},
    // The same number in another dtype; floats truncate and saturate when they become integers.
    {ScalarOp::cast,
     [](const Node& n, const Values& dy) -> Values {
       return {is_float(n.in().dtype()) ? cast(dy[0], n.in().dtype()) : Value()};
     }},
    // -x
    {ScalarOp::neg, [](const Node&, const Values& dy) -> Values { return {-dy[0]}; }},
    // |x|
    {ScalarOp::abs,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * sign(n.in())}; }},
    {ScalarOp::sign, no_gradient},
    // max(x, 0)
    {ScalarOp::relu,
     [](const Node& n, const Values& dy) -> Values {
       return {where(n.out() > 0.0, dy[0], scalar_like(dy[0], 0))};
     }},
    {ScalarOp::floor, no_gradient},
    {ScalarOp::ceil, no_gradient},
    {ScalarOp::round, no_gradient},
    {ScalarOp::trunc, no_gradient},
    // √x
    {ScalarOp::sqrt,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] / (n.out() * 2.0)}; }},
    // 1 / √x
    {ScalarOp::rsqrt,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * n.out() / n.in() * -0.5}; }},
    // e^x
    {ScalarOp::exp, [](const Node& n, const Values& dy) -> Values { return {dy[0] * n.out()}; }},
    // e^x - 1, exact near 0
    {ScalarOp::expm1,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * (n.out() + 1.0)}; }},
    // ln x
    {ScalarOp::log, [](const Node& n, const Values& dy) -> Values { return {dy[0] / n.in()}; }},
    // ln(1 + x), exact near 0
    {ScalarOp::log1p,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] / (n.in() + 1.0)}; }},
    // sin x
    {ScalarOp::sin,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * cos(n.in())}; }},
    // cos x
    {ScalarOp::cos,
     [](const Node& n, const Values& dy) -> Values { return {-(dy[0] * sin(n.in()))}; }},
    // tan x
    {ScalarOp::tan,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * (square(n.out()) + 1.0)}; }},
    // asin x
    {ScalarOp::asin,
     [](const Node& n, const Values& dy) -> Values {
       return {dy[0] * rsqrt(1.0 - square(n.in()))};
     }},
    // acos x
    {ScalarOp::acos,
     [](const Node& n, const Values& dy) -> Values {
       return {-(dy[0] * rsqrt(1.0 - square(n.in())))};
     }},
    // atan x
    {ScalarOp::atan,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] / (square(n.in()) + 1.0)}; }},
    // sinh x
    {ScalarOp::sinh,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * cosh(n.in())}; }},
    // cosh x
    {ScalarOp::cosh,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * sinh(n.in())}; }},
    // tanh x
    {ScalarOp::tanh,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * (1.0 - square(n.out()))}; }},
    // asinh x
    {ScalarOp::asinh,
     [](const Node& n,
        const Values& dy) -> Values { return {dy[0] * rsqrt(square(n.in()) + 1.0)}; }},
    // acosh x
    {ScalarOp::acosh,
     [](const Node& n,
        const Values& dy) -> Values { return {dy[0] * rsqrt(square(n.in()) - 1.0)}; }},
    // atanh x
    {ScalarOp::atanh,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] / (1.0 - square(n.in()))}; }},
    // 2/√π ∫₀ˣ exp(-t²) dt
    {ScalarOp::erf,
     [](const Node& n,
        const Values& dy) -> Values { return {dy[0] * exp(-square(n.in())) * two_over_sqrt_pi}; }},
    // the x with erf(x) = input
    {ScalarOp::erfinv,
     [](const Node& n,
        const Values& dy) -> Values { return {dy[0] * exp(square(n.out())) / two_over_sqrt_pi}; }},
    // 1 / (1 + e^-x)
    {ScalarOp::sigmoid,
     [](const Node& n, const Values& dy) -> Values { return {dy[0] * n.out() * (1.0 - n.out())}; }},
    {ScalarOp::is_nan, no_gradient},
    {ScalarOp::is_inf, no_gradient},
    {ScalarOp::is_finite, no_gradient},
};

// A row that is missing is an error of compilation, as a constant expression cannot throw.
constexpr auto gradient_of(ScalarOp op) {
  for (const Gradient& gradient : gradients)
    if (gradient.op == op) return gradient.of;
  throw "a row is missing";
}

constexpr OpDef make_record(ScalarOp op) {
  const ScalarDef& def = scalar_def(op);
  OpDef record{.name = def.name,
               .arity = static_cast<size_t>(def.operands),
               .infer = infer_uniform,
               .grad = gradient_of(op),
               .scalar = op,
               .commutative = def.commutative};
  if (op == ScalarOp::select) record.infer = infer_select;
  if (op == ScalarOp::cast) {
    record.attrs = attrs_type<CastAttrs>();
    record.infer = infer_cast;
  }
  return record;
}

constexpr std::array<OpDef, pointwise_op_count> make_records() {
  std::array<OpDef, pointwise_op_count> records;
  for (int i = 0; i < pointwise_op_count; ++i)
    records[static_cast<size_t>(i)] = make_record(static_cast<ScalarOp>(i));
  return records;
}

}  // namespace

constinit const std::array<OpDef, pointwise_op_count> pointwise_ops = make_records();

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

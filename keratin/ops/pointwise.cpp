#include "keratin/ops/pointwise.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"

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

Types pointwise_type(const Node& n, bool accepted, std::string_view expected) {
  require_one_dtype(n);
  require(accepted, n.name(), ": expected ", expected, ", got ", n.in().type());
  return {{n.in().dtype(), broadcast_inputs(n)}};
}

}  // namespace

Types infer_numbers(const Node& n) {
  return pointwise_type(n, n.in().dtype() != DType::boolean, "numbers");
}
Types infer_floats(const Node& n) {
  return pointwise_type(n, is_float(n.in().dtype()), "a float tensor");
}
Types infer_bits(const Node& n) {
  return pointwise_type(n, !is_float(n.in().dtype()), "bool or integers");
}
Types infer_compare(const Node& n) {
  require_one_dtype(n);
  return {{DType::boolean, broadcast_inputs(n)}};
}
Types infer_test(const Node& n) { return {{DType::boolean, infer_floats(n)[0].shape}}; }

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

// a + b
const OpDef add_op{
    .name = "add",
    .arity = 2,
    .infer = infer_numbers,
    .grad = [](const Node& n, const Values& dy) { return unbroadcast(n, dy[0], dy[0]); },
    .scalar = ScalarOp::add,
    .commutative = true};
// a - b
const OpDef sub_op{
    .name = "sub",
    .arity = 2,
    .infer = infer_numbers,
    .grad = [](const Node& n, const Values& dy) { return unbroadcast(n, dy[0], -dy[0]); },
    .scalar = ScalarOp::sub};
// a · b
const OpDef mul_op{
    .name = "mul",
    .arity = 2,
    .infer = infer_numbers,
    .grad = [](const Node& n,
               const Values& dy) { return unbroadcast(n, dy[0] * n.in(1), dy[0] * n.in(0)); },
    .scalar = ScalarOp::mul,
    .commutative = true};
// a / b
const OpDef div_op{.name = "div",
                   .arity = 2,
                   .infer = infer_numbers,
                   .grad =
                       [](const Node& n, const Values& dy) {
                         const Value da = dy[0] / n.in(1);
                         return unbroadcast(n, da, -(da * n.out()));
                       },
                   .scalar = ScalarOp::div};
// a - b · floor(a / b)
const OpDef mod_op{.name = "mod",
                   .arity = 2,
                   .infer = infer_numbers,
                   .grad =
                       [](const Node& n, const Values& dy) {
                         return unbroadcast(n, dy[0], -(dy[0] * floor_divide(n.in(0), n.in(1))));
                       },
                   .scalar = ScalarOp::mod};
// floor(a / b)
const OpDef floor_div_op{.name = "floor_div",
                         .arity = 2,
                         .infer = infer_numbers,
                         .grad = no_gradient,
                         .scalar = ScalarOp::floor_div};

namespace {

// The larger (smaller) input gets the gradient; equal ones share it, as in JAX and PyTorch.
Values extremum_grad(const Node& n, const Values& dy) {
  const Value a_wins = cast(equal(n.in(0), n.out()), n.type().dtype);
  const Value b_wins = cast(equal(n.in(1), n.out()), n.type().dtype);
  const Value share = dy[0] / (a_wins + b_wins);
  return unbroadcast(n, share * a_wins, share * b_wins);
}

}  // namespace

// a > b ? a : b
const OpDef maximum_op{.name = "maximum",
                       .arity = 2,
                       .infer = infer_numbers,
                       .grad = extremum_grad,
                       .scalar = ScalarOp::maximum,
                       .commutative = true};
// a < b ? a : b
const OpDef minimum_op{.name = "minimum",
                       .arity = 2,
                       .infer = infer_numbers,
                       .grad = extremum_grad,
                       .scalar = ScalarOp::minimum,
                       .commutative = true};
// a ^ b; d/da = b · a ^ (b - 1), d/db = a ^ b · log a where a > 0, else 0
const OpDef pow_op{
    .name = "pow",
    .arity = 2,
    .infer = infer_numbers,
    .grad =
        [](const Node& n, const Values& dy) {
          const Value a = n.in(0), b = n.in(1);
          const Value positive = a > 0.0;
          const Value log_a =
              where(positive, log(where(positive, a, scalar_like(a, 1))), scalar_like(a, 0));
          // b = 0 must give 0 even where a ^ -1 is infinite.
          const Value da =
              where(equal(b, scalar_like(b, 0)), scalar_like(a, 0), dy[0] * b * power(a, b - 1.0));
          return unbroadcast(n, da, dy[0] * n.out() * log_a);
        },
    .scalar = ScalarOp::pow};
// the angle of (b, a)
const OpDef atan2_op{.name = "atan2",
                     .arity = 2,
                     .infer = infer_floats,
                     .grad =
                         [](const Node& n, const Values& dy) {
                           const Value scaled = dy[0] / (square(n.in(0)) + square(n.in(1)));
                           return unbroadcast(n, scaled * n.in(1), -(scaled * n.in(0)));
                         },
                     .scalar = ScalarOp::atan2};

const OpDef equal_op{.name = "equal",
                     .arity = 2,
                     .infer = infer_compare,
                     .grad = no_gradient,
                     .scalar = ScalarOp::equal,
                     .commutative = true};
const OpDef not_equal_op{.name = "not_equal",
                         .arity = 2,
                         .infer = infer_compare,
                         .grad = no_gradient,
                         .scalar = ScalarOp::not_equal,
                         .commutative = true};
const OpDef less_op{.name = "less",
                    .arity = 2,
                    .infer = infer_compare,
                    .grad = no_gradient,
                    .scalar = ScalarOp::less};
const OpDef less_equal_op{.name = "less_equal",
                          .arity = 2,
                          .infer = infer_compare,
                          .grad = no_gradient,
                          .scalar = ScalarOp::less_equal};
const OpDef greater_op{.name = "greater",
                       .arity = 2,
                       .infer = infer_compare,
                       .grad = no_gradient,
                       .scalar = ScalarOp::greater};
const OpDef greater_equal_op{.name = "greater_equal",
                             .arity = 2,
                             .infer = infer_compare,
                             .grad = no_gradient,
                             .scalar = ScalarOp::greater_equal};

const OpDef bit_and_op{.name = "bit_and",
                       .arity = 2,
                       .infer = infer_bits,
                       .grad = no_gradient,
                       .scalar = ScalarOp::bit_and,
                       .commutative = true};
const OpDef bit_or_op{.name = "bit_or",
                      .arity = 2,
                      .infer = infer_bits,
                      .grad = no_gradient,
                      .scalar = ScalarOp::bit_or,
                      .commutative = true};
const OpDef bit_xor_op{.name = "bit_xor",
                       .arity = 2,
                       .infer = infer_bits,
                       .grad = no_gradient,
                       .scalar = ScalarOp::bit_xor,
                       .commutative = true};
const OpDef bit_not_op{.name = "bit_not",
                       .arity = 1,
                       .infer = infer_bits,
                       .grad = no_gradient,
                       .scalar = ScalarOp::bit_not};
const OpDef shift_left_op{.name = "shift_left",
                          .arity = 2,
                          .infer = infer_bits,
                          .grad = no_gradient,
                          .scalar = ScalarOp::shift_left};
const OpDef shift_right_op{.name = "shift_right",
                           .arity = 2,
                           .infer = infer_bits,
                           .grad = no_gradient,
                           .scalar = ScalarOp::shift_right};
const OpDef shift_right_logical_op{.name = "shift_right_logical",
                                   .arity = 2,
                                   .infer = infer_bits,
                                   .grad = no_gradient,
                                   .scalar = ScalarOp::shift_right_logical};

// condition ? a : b
const OpDef select_op{.name = "select",
                      .arity = 3,
                      .infer = [](const Node& n) -> Types {
                        require(n.in(0).dtype() == DType::boolean,
                                "select: the condition must be bool, got ", n.in(0).type());
                        require_one_dtype(n, 1);
                        return {{n.in(1).dtype(), broadcast_inputs(n)}};
                      },
                      .grad = [](const Node& n, const Values& dy) -> Values {
                        const Value zero = scalar_like(dy[0], 0);
                        return {Value(), sum_to(where(n.in(0), dy[0], zero), n.in(1).shape()),
                                sum_to(where(n.in(0), zero, dy[0]), n.in(2).shape())};
                      },
                      .scalar = ScalarOp::select};

// The same number in another dtype; floats truncate and saturate when they become integers.
const OpDef cast_op{.name = "cast",
                    .attrs = attrs_type<CastAttrs>(),
                    .arity = 1,
                    .infer = [](const Node& n) -> Types {
                      return {{n.attr<CastAttrs>().dtype, n.in().shape()}};
                    },
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      return {is_float(n.in().dtype()) ? cast(dy[0], n.in().dtype()) : Value()};
                    },
                    .scalar = ScalarOp::cast};

// -x
const OpDef neg_op{.name = "neg",
                   .arity = 1,
                   .infer = infer_numbers,
                   .grad = [](const Node&, const Values& dy) -> Values { return {-dy[0]}; },
                   .scalar = ScalarOp::neg};
// |x|
const OpDef abs_op{
    .name = "abs",
    .arity = 1,
    .infer = infer_numbers,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] * sign(n.in())}; },
    .scalar = ScalarOp::abs};
// -1, 0 or 1
const OpDef sign_op{.name = "sign",
                    .arity = 1,
                    .infer = infer_numbers,
                    .grad = no_gradient,
                    .scalar = ScalarOp::sign};
// max(x, 0)
const OpDef relu_op{.name = "relu",
                    .arity = 1,
                    .infer = infer_numbers,
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      return {where(n.out() > 0.0, dy[0], scalar_like(dy[0], 0))};
                    },
                    .scalar = ScalarOp::relu};

// x, but constant to differentiation. It decomposes to nothing once gradients are taken.
const OpDef stop_gradient_op{.name = "stop_gradient",
                             .arity = 1,
                             .infer = [](const Node& n) -> Types { return {n.in().type()}; },
                             .decompose = [](const Node& n) -> Values { return {n.in()}; },
                             .grad = no_gradient};

Value add(Value a, Value b) { return emit(add_op, {a, b}); }
Value subtract(Value a, Value b) { return emit(sub_op, {a, b}); }
Value multiply(Value a, Value b) { return emit(mul_op, {a, b}); }
Value divide(Value a, Value b) { return emit(div_op, {a, b}); }
Value mod(Value a, Value b) { return emit(mod_op, {a, b}); }
Value floor_divide(Value a, Value b) { return emit(floor_div_op, {a, b}); }
Value maximum(Value a, Value b) { return emit(maximum_op, {a, b}); }
Value minimum(Value a, Value b) { return emit(minimum_op, {a, b}); }
Value power(Value a, Value b) { return emit(pow_op, {a, b}); }
Value arctan2(Value a, Value b) { return emit(atan2_op, {a, b}); }
Value equal(Value a, Value b) { return emit(equal_op, {a, b}); }
Value not_equal(Value a, Value b) { return emit(not_equal_op, {a, b}); }
Value less(Value a, Value b) { return emit(less_op, {a, b}); }
Value less_equal(Value a, Value b) { return emit(less_equal_op, {a, b}); }
Value greater(Value a, Value b) { return emit(greater_op, {a, b}); }
Value greater_equal(Value a, Value b) { return emit(greater_equal_op, {a, b}); }
Value bitwise_and(Value a, Value b) { return emit(bit_and_op, {a, b}); }
Value bitwise_or(Value a, Value b) { return emit(bit_or_op, {a, b}); }
Value bitwise_xor(Value a, Value b) { return emit(bit_xor_op, {a, b}); }
Value bitwise_not(Value a) { return emit(bit_not_op, {a}); }
Value bitwise_left_shift(Value a, Value b) { return emit(shift_left_op, {a, b}); }
Value bitwise_right_shift(Value a, Value b) { return emit(shift_right_op, {a, b}); }
Value shift_right_logical(Value a, Value b) { return emit(shift_right_logical_op, {a, b}); }
Value where(Value condition, Value a, Value b) { return emit(select_op, {condition, a, b}); }
Value cast(Value x, DType dtype) {
  return x.dtype() == dtype ? x : emit(cast_op, {x}, CastAttrs{dtype});
}
Value clip(Value x, double low, double high) {
  return minimum(maximum(x, scalar_like(x, low)), scalar_like(x, high));
}
Value negative(Value x) { return emit(neg_op, {x}); }
Value abs(Value x) { return emit(abs_op, {x}); }
Value sign(Value x) { return emit(sign_op, {x}); }
Value relu(Value x) { return emit(relu_op, {x}); }
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

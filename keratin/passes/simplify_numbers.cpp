#include <cmath>
#include <limits>

#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/simplify_rules.h"

namespace keratin {

namespace {

bool is_number(Value value, double number) { return ops::uniform_value(value) == number; }

bool is_exact(const Node& n) { return !is_float(n.type().dtype); }

Value full(const Node& n, double number) {
  return ops::full(n.block(), n.type().dtype, n.type().shape, number);
}

Value add(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (is_number(b, 0)) return spread(n, a);
  if (is(b, ScalarOp::neg)) return a - b.node().in();
  if (is(a, ScalarOp::neg)) return b - a.node().in();
  return {};
}

Value sub(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (is_number(b, 0)) return spread(n, a);
  if (is_number(a, 0)) return spread(n, -b);
  if (is(b, ScalarOp::neg)) return a + b.node().in();
  if (a == b && is_exact(n)) return full(n, 0);
  return {};
}

Value mul(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (is_number(b, 1)) return spread(n, a);
  if (is_number(b, -1)) return spread(n, -a);
  if (is_number(b, 0) && is_exact(n)) return full(n, 0);
  if (is(a, ScalarOp::neg) && is(b, ScalarOp::neg)) return a.node().in() * b.node().in();
  return {};
}

// 1 / 2^k if it is exact in the dtype: multiplying by it gives the same bits as dividing.
std::optional<double> exact_reciprocal(Value value) {
  const auto number = ops::uniform_value(value);
  if (!number || !is_float(value.dtype()) || !std::isnormal(*number)) return std::nullopt;
  int exponent = 0;
  if (std::abs(std::frexp(*number, &exponent)) != 0.5) return std::nullopt;
  // The reciprocal must be a normal number: others may be flushed to zero.
  const int limit = value.dtype() == DType::f16 ? 14 : 126;
  if (std::abs(exponent - 1) > limit) return std::nullopt;
  return 1 / *number;
}

Value div(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (is_number(b, 1)) return spread(n, a);
  if (is_number(b, -1)) return spread(n, -a);
  if (const auto reciprocal = exact_reciprocal(b))
    return spread(n, a * ops::scalar_like(a, *reciprocal));
  // Half floats round the root before they divide.
  const bool rounds_once = size_of(b.dtype()) >= 4;
  if (is_number(a, 1) && is(b, ScalarOp::sqrt) && rounds_once)
    return spread(n, ops::rsqrt(b.node().in()));
  return {};
}

Value floor_div(const Node& n) {
  return is_exact(n) && is_number(n.in(1), 1) ? spread(n, n.in(0)) : Value();
}

Value pow(const Node& n) {
  const Value x = n.in(0);
  const auto exponent = ops::uniform_value(n.in(1));
  if (!exponent) return {};
  if (*exponent == 0) return full(n, 1);
  if (*exponent == 1) return spread(n, x);
  if (*exponent == 2) return spread(n, x * x);
  if (*exponent == 3) return spread(n, x * x * x);
  if (*exponent == -1 && is_float(x.dtype())) return spread(n, ops::reciprocal(x));
  return {};
}

Value maximum(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (a == b || is_number(b, -std::numeric_limits<double>::infinity())) return spread(n, a);
  if (is_number(b, 0)) return spread(n, ops::relu(a));
  return {};
}

Value minimum(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  return a == b || is_number(b, INFINITY) ? spread(n, a) : Value();
}

Value neg(const Node& n) {
  const Node& x = n.in().node();
  if (is(n.in(), ScalarOp::neg)) return x.in();
  if (is(n.in(), ScalarOp::sub)) return x.in(1) - x.in(0);
  if (is(n.in(), ScalarOp::mul)) {
    // The sign goes into the constant, which costs nothing.
    if (const auto number = ops::uniform_value(x.in(1)); number && is_float(n.type().dtype))
      return spread(n, x.in(0) * ops::scalar_like(x.in(0), -*number));
  }
  return {};
}

Value abs(const Node& n) {
  if (is(n.in(), ScalarOp::abs)) return n.in();
  if (is(n.in(), ScalarOp::neg)) return ops::abs(n.in().node().in());
  return {};
}

Value relu(const Node& n) { return is(n.in(), ScalarOp::relu) ? n.in() : Value(); }

Value select(const Node& n) {
  const Value condition = n.in(0), a = n.in(1), b = n.in(2);
  if (const auto known = ops::uniform_value(condition)) return spread(n, *known != 0 ? a : b);
  if (a == b) return spread(n, a);
  if (is(condition, ScalarOp::bit_not)) return ops::where(condition.node().in(), b, a);
  return {};
}

// The number whose bits are all set; it differs between u8 and signed types.
bool is_all_ones(Value value) {
  return is_number(value, value.dtype() == DType::boolean ? 1
                          : value.dtype() == DType::u8    ? 255
                                                          : -1);
}

Value bit_and(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (a == b || is_all_ones(b)) return spread(n, a);
  return is_number(b, 0) ? full(n, 0) : Value();
}

Value bit_or(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (a == b || is_number(b, 0)) return spread(n, a);
  return is_all_ones(b) ? spread(n, b) : Value();
}

Value bit_xor(const Node& n) {
  const Value a = n.in(0), b = n.in(1);
  if (a == b) return full(n, 0);
  if (is_number(b, 0)) return spread(n, a);
  return is_all_ones(b) ? spread(n, ops::bitwise_not(a)) : Value();
}

Value bit_not(const Node& n) {
  return is(n.in(), ScalarOp::bit_not) ? n.in().node().in() : Value();
}

constexpr RuleFor number_table[] = {
    {ScalarOp::add, add},
    {ScalarOp::sub, sub},
    {ScalarOp::mul, mul},
    {ScalarOp::div, div},
    {ScalarOp::floor_div, floor_div},
    {ScalarOp::pow, pow},
    {ScalarOp::maximum, maximum},
    {ScalarOp::minimum, minimum},
    {ScalarOp::neg, neg},
    {ScalarOp::abs, abs},
    {ScalarOp::relu, relu},
    {ScalarOp::select, select},
    {ScalarOp::bit_and, bit_and},
    {ScalarOp::bit_or, bit_or},
    {ScalarOp::bit_xor, bit_xor},
    {ScalarOp::bit_not, bit_not},
};

}  // namespace

std::span<const RuleFor> number_rules() { return number_table; }

}  // namespace keratin

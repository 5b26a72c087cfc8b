#include <cmath>

#include "keratin/backend/cpu/jit/loop_testing.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::loop_testing {

namespace {

// Ops without a formula here are checked against their own functor in double precision.
template <class... T>
double by_functor(ScalarOp op, T... x) {
  double result = NAN;
  scalar::visit(op, [&]<class Row>(const Row&) {
    using F = typename Row::Functor;
    if constexpr (F::template takes<double> && std::is_invocable_v<F, T...>) result = F{}(x...);
  });
  return result;
}

double real_unary(ScalarOp op, double x) {
  switch (op) {
    case ScalarOp::neg:
      return -x;
    case ScalarOp::abs:
      return std::fabs(x);
    case ScalarOp::sign:
      return std::isnan(x) ? x : double((x > 0) - (x < 0));
    case ScalarOp::floor:
      return std::floor(x);
    case ScalarOp::ceil:
      return std::ceil(x);
    case ScalarOp::round:
      return std::nearbyint(x);
    case ScalarOp::trunc:
      return std::trunc(x);
    case ScalarOp::sqrt:
      return std::sqrt(x);
    case ScalarOp::rsqrt:
      return 1 / std::sqrt(x);
    case ScalarOp::exp:
      return std::exp(x);
    case ScalarOp::expm1:
      return std::expm1(x);
    case ScalarOp::log:
      return std::log(x);
    case ScalarOp::log1p:
      return std::log1p(x);
    case ScalarOp::sin:
      return std::sin(x);
    case ScalarOp::cos:
      return std::cos(x);
    case ScalarOp::tan:
      return std::tan(x);
    case ScalarOp::asin:
      return std::asin(x);
    case ScalarOp::acos:
      return std::acos(x);
    case ScalarOp::atan:
      return std::atan(x);
    case ScalarOp::sinh:
      return std::sinh(x);
    case ScalarOp::cosh:
      return std::cosh(x);
    case ScalarOp::tanh:
      return std::tanh(x);
    case ScalarOp::asinh:
      return std::asinh(x);
    case ScalarOp::acosh:
      return std::acosh(x);
    case ScalarOp::atanh:
      return std::atanh(x);
    case ScalarOp::erf:
      return std::erf(x);
    case ScalarOp::erfinv: {  // by bisection
      if (std::abs(x) >= 1 || std::isnan(x)) return std::abs(x) == 1 ? x * INFINITY : NAN;
      double low = 0, high = 6;
      for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        const bool below = std::abs(x) < 0.5 ? std::erf(middle) < std::abs(x)
                                             : std::erfc(middle) > 1 - std::abs(x);
        (below ? low : high) = middle;
      }
      return std::copysign(low, x);
    }
    case ScalarOp::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ScalarOp::relu:
      return x <= 0 ? 0 : x;
    default:
      return by_functor(op, x);
  }
}

double real_binary(ScalarOp op, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::pow:
      return std::pow(a, b);
    case ScalarOp::maximum:
      return nan ? NAN : std::fmax(a, b);
    case ScalarOp::minimum:
      return nan ? NAN : std::fmin(a, b);
    case ScalarOp::mod: {
      const double r = std::fmod(a, b);
      return r != 0 && std::signbit(r) != std::signbit(b) ? r + b : r;
    }
    case ScalarOp::floor_div:
      return std::floor(a / b);
    case ScalarOp::atan2:
      return std::atan2(a, b);
    default:
      return by_functor(op, a, b);
  }
}

bool test(ScalarOp op, Element a, Element b, bool real) {
  const auto compare = [op](auto x, auto y) {
    switch (op) {
      case ScalarOp::equal:
        return x == y;
      case ScalarOp::not_equal:
        return x != y;
      case ScalarOp::less:
        return x < y;
      case ScalarOp::less_equal:
        return x <= y;
      case ScalarOp::greater:
        return x > y;
      case ScalarOp::greater_equal:
        return x >= y;
      case ScalarOp::is_nan:
        return std::isnan(double(x));
      case ScalarOp::is_inf:
        return std::isinf(double(x));
      default:
        return std::isfinite(double(x));
    }
  };
  return real ? compare(a.real, b.real) : compare(a.whole, b.whole);
}

int width(DType dtype) { return int(size_of(dtype)) * 8; }

int64_t whole_power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (int64_t i = 0; i < b; ++i) result *= uint64_t(a);
  return int64_t(result);
}

int64_t floor_quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

int64_t shifted(ScalarOp op, DType dtype, int64_t a, int64_t count) {
  const int bits = width(dtype);
  const bool out = count < 0 || count >= bits;
  if (dtype == DType::boolean) return a && !count;
  if (op == ScalarOp::shift_left) return out ? 0 : int64_t(uint64_t(a) << count);
  if (op == ScalarOp::shift_right) return out ? (a < 0 ? -1 : 0) : a >> count;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return out ? 0 : int64_t((uint64_t(a) & mask) >> count);
}

int64_t whole(ScalarOp op, DType dtype, int64_t a, int64_t b) {
  const bool boolean = dtype == DType::boolean;
  switch (op) {
    case ScalarOp::neg:
      return int64_t(0 - uint64_t(a));
    case ScalarOp::abs:
      return a < 0 ? int64_t(0 - uint64_t(a)) : a;
    case ScalarOp::sign:
      return (a > 0) - (a < 0);
    case ScalarOp::relu:
      return a < 0 ? 0 : a;
    case ScalarOp::bit_not:
      return boolean ? !a : ~a;
    case ScalarOp::add:
      return boolean ? a | b : int64_t(uint64_t(a) + uint64_t(b));
    case ScalarOp::sub:
      return int64_t(uint64_t(a) - uint64_t(b));
    case ScalarOp::mul:
      return int64_t(uint64_t(a) * uint64_t(b));
    case ScalarOp::div:
      return b == 0 ? 0 : b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
    case ScalarOp::mod:
      return b == 0 || b == -1
                 ? 0
                 : int64_t(uint64_t(a) - uint64_t(floor_quotient(a, b)) * uint64_t(b));
    case ScalarOp::floor_div:
      return b == -1 ? int64_t(0 - uint64_t(a)) : floor_quotient(a, b);
    case ScalarOp::pow:
      return whole_power(a, b);
    case ScalarOp::maximum:
      return a > b ? a : b;
    case ScalarOp::minimum:
      return a < b ? a : b;
    case ScalarOp::bit_and:
      return a & b;
    case ScalarOp::bit_or:
      return a | b;
    case ScalarOp::bit_xor:
      return a ^ b;
    case ScalarOp::shift_left:
    case ScalarOp::shift_right:
    case ScalarOp::shift_right_logical:
      return shifted(op, dtype, a, b);
    default:
      return a;  // rounding
  }
}

// Truncates to the width of the dtype.
int64_t wrapped(DType dtype, int64_t x) {
  return dispatch(dtype, [x]<class Tag>(Tag) -> int64_t {
    return convert<int64_t>(convert<typename Tag::type>(x));
  });
}

Element cast(DType from, DType to, Element x) {
  if (is_float(from) && is_float(to)) {
    if (to == DType::f64) return x;
    const auto single = float(x.real);
    if (to == DType::f16) return {double(float(Half(single))), 0};
    if (to == DType::bf16) return {double(float(BFloat16(single))), 0};
    return {double(single), 0};
  }
  if (is_float(from)) {
    if (to == DType::boolean) return {0, x.real != 0};
    if (std::isnan(x.real)) return {0, 0};
    const double low = to == DType::u8 ? 0 : -std::ldexp(1.0, width(to) - 1);
    const double high = std::ldexp(1.0, to == DType::u8 ? 8 : width(to) - 1);
    if (x.real <= low) return {0, int64_t(low)};
    if (x.real >= high)
      return {0, to == DType::u8 ? 255 : int64_t((uint64_t{1} << (width(to) - 1)) - 1)};
    return {0, int64_t(x.real)};
  }
  if (is_float(to))
    return cast(to == DType::f64 ? DType::f64 : DType::f32, to, {double(x.whole), 0});
  return {0, to == DType::boolean ? x.whole != 0 : wrapped(to, x.whole)};
}

}  // namespace

Element evaluate(const LoopInst& inst, DType operand, const Element* a) {
  const bool real = is_float(operand);
  switch (inst.op) {
    case ScalarOp::constant:
      return is_float(inst.dtype)
                 ? Element{operand == DType::f64 ? inst.real : double(float(inst.real)), 0}
                 : Element{0, wrapped(inst.dtype, inst.integer)};
    case ScalarOp::cast:
      return cast(operand, inst.dtype, a[0]);
    case ScalarOp::select:
      return a[0].whole ? a[1] : a[2];
    case ScalarOp::fma:
      return {std::fma(a[0].real, a[1].real, a[2].real), 0};
    case ScalarOp::fms:
      return {std::fma(a[0].real, a[1].real, -a[2].real), 0};
    case ScalarOp::fnma:
      return {std::fma(-a[0].real, a[1].real, a[2].real), 0};
    default:
      break;
  }
  const Element b = operand_count(inst.op) > 1 ? a[1] : Element{};
  if (inst.dtype == DType::boolean && (is_comparison(inst.op) || operand != DType::boolean))
    return {0, test(inst.op, a[0], b, real)};
  if (!real) {
    if (inst.op == ScalarOp::is_nan || inst.op == ScalarOp::is_inf) return {0, 0};
    if (inst.op == ScalarOp::is_finite) return {0, 1};
    return {0, wrapped(inst.dtype, whole(inst.op, operand, a[0].whole, b.whole))};
  }
  if (operand_count(inst.op) == 1) return {real_unary(inst.op, a[0].real), 0};
  if (inst.op == ScalarOp::floor_div && operand != DType::f64) {  // of the rounded quotient
    const auto quotient = float(a[0].real / b.real);
    const bool flushed = std::abs(quotient) < std::numeric_limits<float>::min();
    return {flushed ? 0.0 : std::floor(double(quotient)), 0};
  }
  return {real_binary(inst.op, a[0].real, b.real), 0};
}

// Half a unit if there is one rounding.
double allowed_ulps(ScalarOp op, DType dtype) {
  if (dtype == DType::f64) return 4;
  switch (op) {
    case ScalarOp::rsqrt:
    case ScalarOp::atan2:
      return 1.5;
    case ScalarOp::mod:
    case ScalarOp::expm1:
    case ScalarOp::log1p:
    case ScalarOp::sigmoid:
      return 3;
    case ScalarOp::exp:
    case ScalarOp::log:
    case ScalarOp::erf:
    case ScalarOp::pow:
      return 2;
    case ScalarOp::tanh:
      return 3.5;
    default:
      return scalar_def(op).transcendental ? 2.5 : 0.5000001;
  }
}

Array awkward_array(DType dtype, int64_t count, std::mt19937& random) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> reals = {
      0,    -0.0,  1,     -1,   0.5,   -0.5, 1.5,  2.5, inf,  -inf, nan,    3e9, -3e9, 1e30,  300,
      -300, 127.5, 1e-30, 1e19, 255.9, 0.99, 88.5, -87, 1e-6, 2,    -1e-20, 7,   1e10, -128.7};
  const std::vector<int64_t> wholes = {0,
                                       1,
                                       -1,
                                       2,
                                       7,
                                       8,
                                       31,
                                       32,
                                       64,
                                       127,
                                       -128,
                                       255,
                                       1 << 20,
                                       std::numeric_limits<int32_t>::max(),
                                       std::numeric_limits<int32_t>::min(),
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min()};
  Array array = random_array(dtype, count, random);
  for (int64_t i = 0; i < count; i += 2) {
    if (dtype == DType::boolean) break;
    array.set(i, {reals[random() % reals.size()], wholes[random() % wholes.size()]});
  }
  return array;
}

}  // namespace keratin::cpu::loop_testing

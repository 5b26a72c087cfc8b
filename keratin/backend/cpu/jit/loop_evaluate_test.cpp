#include "keratin/backend/cpu/jit/loop_testing.h"

namespace keratin::cpu::testing {

namespace {

double real_unary(LoopOp op, double x) {
  switch (op) {
    case LoopOp::neg:
      return -x;
    case LoopOp::abs:
      return std::fabs(x);
    case LoopOp::sign:
      return std::isnan(x) ? x : double((x > 0) - (x < 0));
    case LoopOp::floor:
      return std::floor(x);
    case LoopOp::ceil:
      return std::ceil(x);
    case LoopOp::round:
      return std::nearbyint(x);
    case LoopOp::trunc:
      return std::trunc(x);
    case LoopOp::sqrt:
      return std::sqrt(x);
    case LoopOp::rsqrt:
      return 1 / std::sqrt(x);
    case LoopOp::exp:
      return std::exp(x);
    case LoopOp::expm1:
      return std::expm1(x);
    case LoopOp::log:
      return std::log(x);
    case LoopOp::log1p:
      return std::log1p(x);
    case LoopOp::sin:
      return std::sin(x);
    case LoopOp::cos:
      return std::cos(x);
    case LoopOp::tan:
      return std::tan(x);
    case LoopOp::asin:
      return std::asin(x);
    case LoopOp::acos:
      return std::acos(x);
    case LoopOp::atan:
      return std::atan(x);
    case LoopOp::sinh:
      return std::sinh(x);
    case LoopOp::cosh:
      return std::cosh(x);
    case LoopOp::tanh:
      return std::tanh(x);
    case LoopOp::asinh:
      return std::asinh(x);
    case LoopOp::acosh:
      return std::acosh(x);
    case LoopOp::atanh:
      return std::atanh(x);
    case LoopOp::erf:
      return std::erf(x);
    case LoopOp::erfinv: {  // by bisection
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
    case LoopOp::sigmoid:
      return 1 / (1 + std::exp(-x));
    case LoopOp::relu:
      return x <= 0 ? 0 : x;
    default:
      return NAN;
  }
}

double real_binary(LoopOp op, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  switch (op) {
    case LoopOp::add:
      return a + b;
    case LoopOp::sub:
      return a - b;
    case LoopOp::mul:
      return a * b;
    case LoopOp::div:
      return a / b;
    case LoopOp::pow:
      return std::pow(a, b);
    case LoopOp::maximum:
      return nan ? NAN : std::fmax(a, b);
    case LoopOp::minimum:
      return nan ? NAN : std::fmin(a, b);
    case LoopOp::mod: {
      const double r = std::fmod(a, b);
      return r != 0 && std::signbit(r) != std::signbit(b) ? r + b : r;
    }
    case LoopOp::floor_div:
      return std::floor(a / b);
    case LoopOp::atan2:
      return std::atan2(a, b);
    default:
      return NAN;
  }
}

bool test(LoopOp op, Element a, Element b, bool real) {
  const auto compare = [op](auto x, auto y) {
    switch (op) {
      case LoopOp::equal:
        return x == y;
      case LoopOp::not_equal:
        return x != y;
      case LoopOp::less:
        return x < y;
      case LoopOp::less_equal:
        return x <= y;
      case LoopOp::greater:
        return x > y;
      case LoopOp::greater_equal:
        return x >= y;
      case LoopOp::is_nan:
        return std::isnan(double(x));
      case LoopOp::is_inf:
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

int64_t shifted(LoopOp op, DType dtype, int64_t a, int64_t count) {
  const int bits = width(dtype);
  const bool out = count < 0 || count >= bits;
  if (dtype == DType::boolean) return a && !count;
  if (op == LoopOp::shift_left) return out ? 0 : int64_t(uint64_t(a) << count);
  if (op == LoopOp::shift_right) return out ? (a < 0 ? -1 : 0) : a >> count;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return out ? 0 : int64_t((uint64_t(a) & mask) >> count);
}

int64_t whole(LoopOp op, DType dtype, int64_t a, int64_t b) {
  const bool boolean = dtype == DType::boolean;
  switch (op) {
    case LoopOp::neg:
      return int64_t(0 - uint64_t(a));
    case LoopOp::abs:
      return a < 0 ? int64_t(0 - uint64_t(a)) : a;
    case LoopOp::sign:
      return (a > 0) - (a < 0);
    case LoopOp::relu:
      return a < 0 ? 0 : a;
    case LoopOp::bit_not:
      return boolean ? !a : ~a;
    case LoopOp::add:
      return boolean ? a | b : int64_t(uint64_t(a) + uint64_t(b));
    case LoopOp::sub:
      return int64_t(uint64_t(a) - uint64_t(b));
    case LoopOp::mul:
      return int64_t(uint64_t(a) * uint64_t(b));
    case LoopOp::div:
      return b == 0 ? 0 : b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
    case LoopOp::mod:
      return b == 0 || b == -1
                 ? 0
                 : int64_t(uint64_t(a) - uint64_t(floor_quotient(a, b)) * uint64_t(b));
    case LoopOp::floor_div:
      return b == -1 ? int64_t(0 - uint64_t(a)) : floor_quotient(a, b);
    case LoopOp::pow:
      return whole_power(a, b);
    case LoopOp::maximum:
      return a > b ? a : b;
    case LoopOp::minimum:
      return a < b ? a : b;
    case LoopOp::bit_and:
      return a & b;
    case LoopOp::bit_or:
      return a | b;
    case LoopOp::bit_xor:
      return a ^ b;
    case LoopOp::shift_left:
    case LoopOp::shift_right:
    case LoopOp::shift_right_logical:
      return shifted(op, dtype, a, b);
    default:
      return a;  // rounding
  }
}

// Cuts to the width of the dtype.
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
    case LoopOp::constant:
      return is_float(inst.dtype)
                 ? Element{operand == DType::f64 ? inst.real : double(float(inst.real)), 0}
                 : Element{0, wrapped(inst.dtype, inst.integer)};
    case LoopOp::cast:
      return cast(operand, inst.dtype, a[0]);
    case LoopOp::select:
      return a[0].whole ? a[1] : a[2];
    case LoopOp::fma:
      return {std::fma(a[0].real, a[1].real, a[2].real), 0};
    case LoopOp::fms:
      return {std::fma(a[0].real, a[1].real, -a[2].real), 0};
    case LoopOp::fnma:
      return {std::fma(-a[0].real, a[1].real, a[2].real), 0};
    default:
      break;
  }
  const Element b = operand_count(inst.op) > 1 ? a[1] : Element{};
  if (inst.dtype == DType::boolean && (is_compare(inst.op) || operand != DType::boolean))
    return {0, test(inst.op, a[0], b, real)};
  if (!real) {
    if (inst.op == LoopOp::is_nan || inst.op == LoopOp::is_inf) return {0, 0};
    if (inst.op == LoopOp::is_finite) return {0, 1};
    return {0, wrapped(inst.dtype, whole(inst.op, operand, a[0].whole, b.whole))};
  }
  if (operand_count(inst.op) == 1) return {real_unary(inst.op, a[0].real), 0};
  if (inst.op == LoopOp::floor_div && operand != DType::f64) {  // of the rounded quotient
    const auto quotient = float(a[0].real / b.real);
    const bool flushed = std::abs(quotient) < std::numeric_limits<float>::min();
    return {flushed ? 0.0 : std::floor(double(quotient)), 0};
  }
  return {real_binary(inst.op, a[0].real, b.real), 0};
}

// Half a unit where one rounding is all there is.
double allowed_ulps(LoopOp op, DType dtype) {
  if (dtype == DType::f64) return 4;
  switch (op) {
    case LoopOp::rsqrt:
      return 1.5;
    case LoopOp::mod:
    case LoopOp::expm1:
    case LoopOp::log1p:
    case LoopOp::sigmoid:
      return 3;
    case LoopOp::exp:
    case LoopOp::log:
    case LoopOp::erf:
    case LoopOp::pow:
      return 2;
    case LoopOp::tanh:
      return 3.5;
    default:
      return op >= LoopOp::sin && op <= LoopOp::erfinv ? 2.5
             : op == LoopOp::atan2                     ? 1.5
                                                       : 0.5000001;
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

}  // namespace keratin::cpu::testing

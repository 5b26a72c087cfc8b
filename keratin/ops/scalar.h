#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "keratin/ir/op.h"

namespace keratin {

// The scalar functions of the pointwise ops. Their meaning is stated once, by the functors below;
// the reference backend runs these, other backends are tested against them.
// clang-format off
enum class ScalarOp : uint8_t {
  // (T, T) -> T, numbers
  add, sub, mul, div, mod, floor_div, maximum, minimum, pow, atan2,
  // (T, T) -> bool
  equal, not_equal, less, less_equal, greater, greater_equal,
  // bool and integers
  bit_and, bit_or, bit_xor, bit_not, shift_left, shift_right, shift_right_logical,
  // (bool, T, T) -> T
  select,
  // T -> T, numbers
  neg, abs, sign, relu,
  // T -> T, floats
  floor, ceil, round, trunc, sqrt, rsqrt, exp, expm1, log, log1p, sin, cos, tan, asin, acos, atan,
  sinh, cosh, tanh, asinh, acosh, atanh, erf, erfinv, sigmoid,
  // T -> bool, floats
  is_nan, is_inf, is_finite,
  // any -> any
  cast,
};
// clang-format on

namespace scalar {

// The inverse of erf: a rational start (Giles, 2010), then Newton steps on erf itself for doubles.
float erfinv(float x);
double erfinv(double x);

// Integer arithmetic wraps: done on the unsigned twin, where overflow is defined.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

// What element types a functor takes.
struct Numbers {
  template <class T>
  static constexpr bool takes = !std::is_same_v<T, bool>;
};
struct Floats {
  template <class T>
  static constexpr bool takes = std::is_floating_point_v<T>;
};
struct Bits {
  template <class T>
  static constexpr bool takes = std::is_integral_v<T>;
};
struct Anything {
  template <class T>
  static constexpr bool takes = true;
};

// clang-format off
struct Add : Numbers {
  template <class T> T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  }
};
struct Sub : Numbers {
  template <class T> T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  }
};
struct Mul : Numbers {
  template <class T> T operator()(T a, T b) const {
    using W = std::common_type_t<Wrapping<T>, std::conditional_t<std::is_integral_v<T>, unsigned, T>>;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
// Integers: division by zero gives zero; the quotient truncates.
struct Div : Numbers {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if (std::is_signed_v<T> && b == T(-1)) return Sub{}(T(0), a);
    }
    return static_cast<T>(a / b);
  }
};
// floor(a / b), as Python's //.
struct FloorDiv : Numbers {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T q = Div{}(a, b);
      if (b == 0 || (std::is_signed_v<T> && b == T(-1))) return q;
      return static_cast<T>(q - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0));
    } else {
      return std::floor(a / b);
    }
  }
};
// The remainder with the divisor's sign, as Python's %.
struct Mod : Numbers {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0 || (std::is_signed_v<T> && b == T(-1))) return 0;
      const T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && ((r < 0) != (b < 0)) ? r + b : r);
    } else {
      const T r = std::fmod(a, b);
      return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
    }
  }
};
// NaN wins, as in NumPy.
struct Maximum : Numbers {
  template <class T> T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Minimum : Numbers {
  template <class T> T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};
struct Pow : Numbers {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b < 0) return a == 1 ? 1 : (a == T(-1) ? (b % 2 == 0 ? T(1) : T(-1)) : T(0));
      T result = 1;
      for (T base = a; b > 0; b = static_cast<T>(b / 2), base = Mul{}(base, base))
        if (b % 2 != 0) result = Mul{}(result, base);
      return result;
    } else {
      return std::pow(a, b);
    }
  }
};
struct Atan2 : Floats { template <class T> T operator()(T a, T b) const { return std::atan2(a, b); } };

struct Equal : Anything { template <class T> bool operator()(T a, T b) const { return a == b; } };
struct NotEqual : Anything { template <class T> bool operator()(T a, T b) const { return a != b; } };
struct Less : Anything { template <class T> bool operator()(T a, T b) const { return a < b; } };
struct LessEqual : Anything { template <class T> bool operator()(T a, T b) const { return a <= b; } };
struct Greater : Anything { template <class T> bool operator()(T a, T b) const { return a > b; } };
struct GreaterEqual : Anything { template <class T> bool operator()(T a, T b) const { return a >= b; } };

struct BitAnd : Bits { template <class T> T operator()(T a, T b) const { return static_cast<T>(a & b); } };
struct BitOr : Bits { template <class T> T operator()(T a, T b) const { return static_cast<T>(a | b); } };
struct BitXor : Bits { template <class T> T operator()(T a, T b) const { return static_cast<T>(a ^ b); } };
struct BitNot : Bits {
  template <class T> T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>) return !a;
    else return static_cast<T>(~a);
  }
};
// Shifts by less than zero or by the width and more give what shifting on and on would.
template <class T>
bool in_width(T b) { return b >= 0 && b < T(8 * sizeof(T)); }
struct ShiftLeft : Bits {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) return a && !b;
    else return in_width(b) ? static_cast<T>(Wrapping<T>(a) << b) : T(0);
  }
};
struct ShiftRight : Bits {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) return a && !b;
    else return static_cast<T>(in_width(b) ? a >> b : (a < 0 ? T(-1) : T(0)));
  }
};
struct ShiftRightLogical : Bits {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) return a && !b;
    else return in_width(b) ? static_cast<T>(Wrapping<T>(a) >> b) : T(0);
  }
};

struct Neg : Numbers { template <class T> T operator()(T a) const { return static_cast<T>(-Wrapping<T>(a)); } };
struct Abs : Numbers {
  template <class T> T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) return std::abs(a);
    else return a < 0 ? Neg{}(a) : a;
  }
};
struct Sign : Numbers {
  template <class T> T operator()(T a) const {
    if (a != a) return a;
    return static_cast<T>((a > 0) - (a < 0));
  }
};
struct Relu : Numbers { template <class T> T operator()(T a) const { return a > 0 || a != a ? a : T(0); } };

struct Floor : Floats { template <class T> T operator()(T a) const { return std::floor(a); } };
struct Ceil : Floats { template <class T> T operator()(T a) const { return std::ceil(a); } };
struct Round : Floats { template <class T> T operator()(T a) const { return std::nearbyint(a); } };
struct Trunc : Floats { template <class T> T operator()(T a) const { return std::trunc(a); } };
struct Sqrt : Floats { template <class T> T operator()(T a) const { return std::sqrt(a); } };
struct Rsqrt : Floats { template <class T> T operator()(T a) const { return 1 / std::sqrt(a); } };
struct Exp : Floats { template <class T> T operator()(T a) const { return std::exp(a); } };
struct Expm1 : Floats { template <class T> T operator()(T a) const { return std::expm1(a); } };
struct Log : Floats { template <class T> T operator()(T a) const { return std::log(a); } };
struct Log1p : Floats { template <class T> T operator()(T a) const { return std::log1p(a); } };
struct Sin : Floats { template <class T> T operator()(T a) const { return std::sin(a); } };
struct Cos : Floats { template <class T> T operator()(T a) const { return std::cos(a); } };
struct Tan : Floats { template <class T> T operator()(T a) const { return std::tan(a); } };
struct Asin : Floats { template <class T> T operator()(T a) const { return std::asin(a); } };
struct Acos : Floats { template <class T> T operator()(T a) const { return std::acos(a); } };
struct Atan : Floats { template <class T> T operator()(T a) const { return std::atan(a); } };
struct Sinh : Floats { template <class T> T operator()(T a) const { return std::sinh(a); } };
struct Cosh : Floats { template <class T> T operator()(T a) const { return std::cosh(a); } };
struct Tanh : Floats { template <class T> T operator()(T a) const { return std::tanh(a); } };
struct Asinh : Floats { template <class T> T operator()(T a) const { return std::asinh(a); } };
struct Acosh : Floats { template <class T> T operator()(T a) const { return std::acosh(a); } };
struct Atanh : Floats { template <class T> T operator()(T a) const { return std::atanh(a); } };
struct Erf : Floats { template <class T> T operator()(T a) const { return std::erf(a); } };
struct Erfinv : Floats { template <class T> T operator()(T a) const { return erfinv(a); } };
struct Sigmoid : Floats {
  template <class T> T operator()(T a) const {
    const T e = std::exp(-std::abs(a));
    return (a >= 0 ? T(1) : e) / (1 + e);
  }
};
struct IsNan : Floats { template <class T> bool operator()(T a) const { return std::isnan(a); } };
struct IsInf : Floats { template <class T> bool operator()(T a) const { return std::isinf(a); } };
struct IsFinite : Floats { template <class T> bool operator()(T a) const { return std::isfinite(a); } };

// Calls f(functor) for an op whose inputs share one dtype (all but select and cast).
template <class F>
void visit_uniform(ScalarOp op, F&& f) {
  switch (op) {
    case ScalarOp::add: return f(Add{});
    case ScalarOp::sub: return f(Sub{});
    case ScalarOp::mul: return f(Mul{});
    case ScalarOp::div: return f(Div{});
    case ScalarOp::mod: return f(Mod{});
    case ScalarOp::floor_div: return f(FloorDiv{});
    case ScalarOp::maximum: return f(Maximum{});
    case ScalarOp::minimum: return f(Minimum{});
    case ScalarOp::pow: return f(Pow{});
    case ScalarOp::atan2: return f(Atan2{});
    case ScalarOp::equal: return f(Equal{});
    case ScalarOp::not_equal: return f(NotEqual{});
    case ScalarOp::less: return f(Less{});
    case ScalarOp::less_equal: return f(LessEqual{});
    case ScalarOp::greater: return f(Greater{});
    case ScalarOp::greater_equal: return f(GreaterEqual{});
    case ScalarOp::bit_and: return f(BitAnd{});
    case ScalarOp::bit_or: return f(BitOr{});
    case ScalarOp::bit_xor: return f(BitXor{});
    case ScalarOp::bit_not: return f(BitNot{});
    case ScalarOp::shift_left: return f(ShiftLeft{});
    case ScalarOp::shift_right: return f(ShiftRight{});
    case ScalarOp::shift_right_logical: return f(ShiftRightLogical{});
    case ScalarOp::neg: return f(Neg{});
    case ScalarOp::abs: return f(Abs{});
    case ScalarOp::sign: return f(Sign{});
    case ScalarOp::relu: return f(Relu{});
    case ScalarOp::floor: return f(Floor{});
    case ScalarOp::ceil: return f(Ceil{});
    case ScalarOp::round: return f(Round{});
    case ScalarOp::trunc: return f(Trunc{});
    case ScalarOp::sqrt: return f(Sqrt{});
    case ScalarOp::rsqrt: return f(Rsqrt{});
    case ScalarOp::exp: return f(Exp{});
    case ScalarOp::expm1: return f(Expm1{});
    case ScalarOp::log: return f(Log{});
    case ScalarOp::log1p: return f(Log1p{});
    case ScalarOp::sin: return f(Sin{});
    case ScalarOp::cos: return f(Cos{});
    case ScalarOp::tan: return f(Tan{});
    case ScalarOp::asin: return f(Asin{});
    case ScalarOp::acos: return f(Acos{});
    case ScalarOp::atan: return f(Atan{});
    case ScalarOp::sinh: return f(Sinh{});
    case ScalarOp::cosh: return f(Cosh{});
    case ScalarOp::tanh: return f(Tanh{});
    case ScalarOp::asinh: return f(Asinh{});
    case ScalarOp::acosh: return f(Acosh{});
    case ScalarOp::atanh: return f(Atanh{});
    case ScalarOp::erf: return f(Erf{});
    case ScalarOp::erfinv: return f(Erfinv{});
    case ScalarOp::sigmoid: return f(Sigmoid{});
    case ScalarOp::is_nan: return f(IsNan{});
    case ScalarOp::is_inf: return f(IsInf{});
    case ScalarOp::is_finite: return f(IsFinite{});
    case ScalarOp::select:
    case ScalarOp::cast: break;
  }
  throw InternalError("visit_uniform: not an op of one dtype");
}

// clang-format on

}  // namespace scalar
}  // namespace keratin

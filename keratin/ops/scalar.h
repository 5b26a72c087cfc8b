#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// The scalar functions of the pointwise ops. Their meaning is stated once, by the functors below:
// the reference backend runs them, fused loops fall back on them, and GPU kernels include this
// file. A new function is an enumerator, a functor and a row of the table at the end.
namespace keratin {

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
  // In fused loops only: no op of the ir has these.
  constant, fma, fms, fnma,
};
// clang-format on

inline constexpr int scalar_op_count = static_cast<int>(ScalarOp::fnma) + 1;
inline constexpr int pointwise_op_count = static_cast<int>(ScalarOp::constant);

namespace scalar {

// The inverse of erf: a rational approximation (Giles, 2010), refined by Newton steps in double.
float erfinv(float x);
double erfinv(double x);

// Integer arithmetic wraps: it is done on the unsigned type, for which overflow is defined.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

// The element types that a functor takes, and their name in messages.
struct Numbers {
  static constexpr const char* expected = "numbers";
  template <class T>
  static constexpr bool takes = !std::is_same_v<T, bool>;
};
struct Floats {
  static constexpr const char* expected = "a float tensor";
  template <class T>
  static constexpr bool takes = std::is_floating_point_v<T>;
};
struct Bits {
  static constexpr const char* expected = "bool or integers";
  template <class T>
  static constexpr bool takes = std::is_integral_v<T>;
};
struct Anything {
  static constexpr const char* expected = "a tensor";
  template <class T>
  static constexpr bool takes = true;
};
// Functors that depend on more than operands of one dtype; every backend implements these itself.
struct Special {
  static constexpr const char* expected = "a tensor";
  template <class T>
  static constexpr bool takes = false;
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
// Shifts by a negative number, or by the width or more, give the limit of repeated shifts.
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

struct Select : Special { template <class T> T operator()(bool c, T a, T b) const { return c ? a : b; } };
// The dtype of a cast and the value of a constant are attributes.
struct Cast : Special { template <class T> T operator()(T a) const; };
struct Constant : Special { float operator()() const; };
// Rounded once: a * b + c, a * b - c, c - a * b.
struct Fma : Floats { template <class T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); } };
struct Fms : Floats { template <class T> T operator()(T a, T b, T c) const { return std::fma(a, b, -c); } };
struct Fnma : Floats { template <class T> T operator()(T a, T b, T c) const { return std::fma(-a, b, c); } };

// What cannot be derived from a functor.
enum class Trait : uint8_t {
  none,
  commutative,
  transcendental,  // costs tens of instructions
};

template <ScalarOp which, class F>
struct Row {
  using Functor = F;
  static constexpr ScalarOp op = which;
  const char* name;  // that of the op in the ir; the functor's is the same in CamelCase
  Trait trait = Trait::none;
};
template <class... R>
struct Rows : R... {};
template <class... R>
Rows(R...) -> Rows<R...>;

// The table: one row per function, in the order of the enumerators.
inline constexpr Rows rows{
    Row<ScalarOp::add, Add>{"add", Trait::commutative},
    Row<ScalarOp::sub, Sub>{"sub"},
    Row<ScalarOp::mul, Mul>{"mul", Trait::commutative},
    Row<ScalarOp::div, Div>{"div"},
    Row<ScalarOp::mod, Mod>{"mod"},
    Row<ScalarOp::floor_div, FloorDiv>{"floor_div"},
    Row<ScalarOp::maximum, Maximum>{"maximum", Trait::commutative},
    Row<ScalarOp::minimum, Minimum>{"minimum", Trait::commutative},
    Row<ScalarOp::pow, Pow>{"pow", Trait::transcendental},
    Row<ScalarOp::atan2, Atan2>{"atan2", Trait::transcendental},
    Row<ScalarOp::equal, Equal>{"equal", Trait::commutative},
    Row<ScalarOp::not_equal, NotEqual>{"not_equal", Trait::commutative},
    Row<ScalarOp::less, Less>{"less"},
    Row<ScalarOp::less_equal, LessEqual>{"less_equal"},
    Row<ScalarOp::greater, Greater>{"greater"},
    Row<ScalarOp::greater_equal, GreaterEqual>{"greater_equal"},
    Row<ScalarOp::bit_and, BitAnd>{"bit_and", Trait::commutative},
    Row<ScalarOp::bit_or, BitOr>{"bit_or", Trait::commutative},
    Row<ScalarOp::bit_xor, BitXor>{"bit_xor", Trait::commutative},
    Row<ScalarOp::bit_not, BitNot>{"bit_not"},
    Row<ScalarOp::shift_left, ShiftLeft>{"shift_left"},
    Row<ScalarOp::shift_right, ShiftRight>{"shift_right"},
    Row<ScalarOp::shift_right_logical, ShiftRightLogical>{"shift_right_logical"},
    Row<ScalarOp::select, Select>{"select"},
    Row<ScalarOp::neg, Neg>{"neg"},
    Row<ScalarOp::abs, Abs>{"abs"},
    Row<ScalarOp::sign, Sign>{"sign"},
    Row<ScalarOp::relu, Relu>{"relu"},
    Row<ScalarOp::floor, Floor>{"floor"},
    Row<ScalarOp::ceil, Ceil>{"ceil"},
    Row<ScalarOp::round, Round>{"round"},
    Row<ScalarOp::trunc, Trunc>{"trunc"},
    Row<ScalarOp::sqrt, Sqrt>{"sqrt"},
    Row<ScalarOp::rsqrt, Rsqrt>{"rsqrt"},
    Row<ScalarOp::exp, Exp>{"exp", Trait::transcendental},
    Row<ScalarOp::expm1, Expm1>{"expm1", Trait::transcendental},
    Row<ScalarOp::log, Log>{"log", Trait::transcendental},
    Row<ScalarOp::log1p, Log1p>{"log1p", Trait::transcendental},
    Row<ScalarOp::sin, Sin>{"sin", Trait::transcendental},
    Row<ScalarOp::cos, Cos>{"cos", Trait::transcendental},
    Row<ScalarOp::tan, Tan>{"tan", Trait::transcendental},
    Row<ScalarOp::asin, Asin>{"asin", Trait::transcendental},
    Row<ScalarOp::acos, Acos>{"acos", Trait::transcendental},
    Row<ScalarOp::atan, Atan>{"atan", Trait::transcendental},
    Row<ScalarOp::sinh, Sinh>{"sinh", Trait::transcendental},
    Row<ScalarOp::cosh, Cosh>{"cosh", Trait::transcendental},
    Row<ScalarOp::tanh, Tanh>{"tanh", Trait::transcendental},
    Row<ScalarOp::asinh, Asinh>{"asinh", Trait::transcendental},
    Row<ScalarOp::acosh, Acosh>{"acosh", Trait::transcendental},
    Row<ScalarOp::atanh, Atanh>{"atanh", Trait::transcendental},
    Row<ScalarOp::erf, Erf>{"erf", Trait::transcendental},
    Row<ScalarOp::erfinv, Erfinv>{"erfinv", Trait::transcendental},
    Row<ScalarOp::sigmoid, Sigmoid>{"sigmoid", Trait::transcendental},
    Row<ScalarOp::is_nan, IsNan>{"is_nan"},
    Row<ScalarOp::is_inf, IsInf>{"is_inf"},
    Row<ScalarOp::is_finite, IsFinite>{"is_finite"},
    Row<ScalarOp::cast, Cast>{"cast"},
    Row<ScalarOp::constant, Constant>{"constant"},
    Row<ScalarOp::fma, Fma>{"fma"},
    Row<ScalarOp::fms, Fms>{"fms"},
    Row<ScalarOp::fnma, Fnma>{"fnma"},
};
// clang-format on

// Calls f(row) with every row of the table, in order.
template <class F, class... R>
constexpr void for_each_row(const Rows<R...>& table, F&& f) {
  (f(static_cast<const R&>(table)), ...);
}

// Calls f(row) with the row of an op.
template <class F>
constexpr void visit(ScalarOp op, F&& f) {
  for_each_row(rows, [&](const auto& row) {
    if (row.op == op) f(row);
  });
}

}  // namespace scalar
}  // namespace keratin

// The declarations of <cmath>, <cstdint>, <limits> and <type_traits> that kernels use: NVRTC has no
// C++ standard library.
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long long;
using uint64_t = unsigned long long;

namespace std {

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_same_v<T, bool> || is_same_v<T, int8_t> || is_same_v<T, uint8_t> || is_same_v<T, int> ||
    is_same_v<T, unsigned> || is_same_v<T, long long> || is_same_v<T, unsigned long long>;
template <class T>
inline constexpr bool is_signed_v = T(-1) < T(0);

template <class T>
struct type_identity {
  using type = T;
};
template <bool, class A, class>
struct conditional : type_identity<A> {};
template <class A, class B>
struct conditional<false, A, B> : type_identity<B> {};
template <bool c, class A, class B>
using conditional_t = typename conditional<c, A, B>::type;

template <class T>
struct make_unsigned : type_identity<T> {};
template <>
struct make_unsigned<int8_t> : type_identity<uint8_t> {};
template <>
struct make_unsigned<int> : type_identity<unsigned> {};
template <>
struct make_unsigned<long long> : type_identity<unsigned long long> {};

template <class A, class B>
using common_type_t = decltype(true ? A() : B());

template <class T>
struct numeric_limits;
template <>
struct numeric_limits<double> {
  static double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
};
template <>
struct numeric_limits<float> {
  static float infinity() { return __int_as_float(0x7f800000); }
};
template <class T, T low, T high>
struct integer_limits {
  static constexpr T min() { return low; }
  static constexpr T lowest() { return low; }
  static constexpr T max() { return high; }
};
template <>
struct numeric_limits<bool> : integer_limits<bool, false, true> {};
template <>
struct numeric_limits<int8_t> : integer_limits<int8_t, -128, 127> {};
template <>
struct numeric_limits<uint8_t> : integer_limits<uint8_t, 0, 255> {};
template <>
struct numeric_limits<int> : integer_limits<int, -2147483647 - 1, 2147483647> {};
template <>
struct numeric_limits<long long>
    : integer_limits<long long, -9223372036854775807LL - 1, 9223372036854775807LL> {};

// All of <cmath> that takes and gives floats, so that a new functor finds what it needs.
using ::abs, ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atan2, ::atanh, ::cbrt, ::ceil, ::copysign,
    ::cos, ::cosh, ::erf, ::erfc, ::exp, ::exp2, ::expm1, ::fdim, ::floor, ::fma, ::fmax, ::fmin,
    ::fmod, ::hypot, ::isfinite, ::isinf, ::isnan, ::lgamma, ::log, ::log10, ::log1p, ::log2,
    ::logb, ::nearbyint, ::nextafter, ::pow, ::remainder, ::rint, ::round, ::signbit, ::sin, ::sinh,
    ::sqrt, ::tan, ::tanh, ::tgamma, ::trunc;

}  // namespace std

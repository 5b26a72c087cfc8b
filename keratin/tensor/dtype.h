#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "keratin/base/error.h"
#include "keratin/base/export.h"

namespace keratin {

enum class DType : uint8_t { f64, f32, f16, bf16, i8, u8, i32, i64, boolean, string };

// Those that one can compute with: all but string.
inline constexpr std::array all_dtypes = {DType::f64,  DType::f32, DType::f16,
                                          DType::bf16, DType::i8,  DType::u8,
                                          DType::i32,  DType::i64, DType::boolean};

KERATIN_API std::optional<DType> parse_dtype(std::string_view text);
KERATIN_API std::ostream& operator<<(std::ostream& out, DType dtype);

constexpr size_t size_of(DType dtype) {
  constexpr std::array<size_t, 10> sizes = {8, 4, 2, 2, 1, 1, 4, 8, 1, sizeof(std::string_view)};
  return sizes[static_cast<size_t>(dtype)];
}
constexpr bool is_float(DType dtype) { return dtype <= DType::bf16; }
constexpr bool is_integer(DType dtype) { return dtype >= DType::i8 && dtype <= DType::i64; }

namespace detail {

KERATIN_API uint16_t float_to_half_bits(float value);
KERATIN_API float half_bits_to_float(uint16_t bits);

}  // namespace detail

// Storage-only half types: arithmetic is done in float, stores round to nearest even.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(detail::float_to_half_bits(value)) {}
  explicit operator float() const { return detail::half_bits_to_float(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto raw = std::bit_cast<uint32_t>(value);
    if (value != value) {  // NaN
      bits = static_cast<uint16_t>((raw >> 16) | 0x40);
    } else {
      bits = static_cast<uint16_t>((raw + 0x7fff + ((raw >> 16) & 1)) >> 16);
    }
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

// The C++ type that stores an element, and the one arithmetic on it is done in.
template <DType>
struct StorageOf;
template <>
struct StorageOf<DType::f64> {
  using type = double;
};
template <>
struct StorageOf<DType::f32> {
  using type = float;
};
template <>
struct StorageOf<DType::f16> {
  using type = Half;
};
template <>
struct StorageOf<DType::bf16> {
  using type = BFloat16;
};
template <>
struct StorageOf<DType::i8> {
  using type = int8_t;
};
template <>
struct StorageOf<DType::u8> {
  using type = uint8_t;
};
template <>
struct StorageOf<DType::i32> {
  using type = int32_t;
};
template <>
struct StorageOf<DType::i64> {
  using type = int64_t;
};
template <>
struct StorageOf<DType::boolean> {
  using type = bool;
};
// Refers to characters that the tensor's buffer holds, or, in a program, one of its tensors.
template <>
struct StorageOf<DType::string> {
  using type = std::string_view;
};

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::f16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, std::string_view>)
    return DType::string;
  else {
    static_assert(std::is_same_v<T, bool>);
    return DType::boolean;
  }
}

namespace detail {

template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<Half> {
  using type = float;
};
template <>
struct ComputeOf<BFloat16> {
  using type = float;
};
template <class T>
using compute_t = typename ComputeOf<T>::type;

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the storage type of the dtype, which is not string.
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(TypeTag<double>{});
    case DType::f32:
      return f(TypeTag<float>{});
    case DType::f16:
      return f(TypeTag<Half>{});
    case DType::bf16:
      return f(TypeTag<BFloat16>{});
    case DType::i8:
      return f(TypeTag<int8_t>{});
    case DType::u8:
      return f(TypeTag<uint8_t>{});
    case DType::i32:
      return f(TypeTag<int32_t>{});
    case DType::i64:
      return f(TypeTag<int64_t>{});
    case DType::string:
      fail("expected a dtype of numbers, got string");
    case DType::boolean:
      break;
  }
  return f(TypeTag<bool>{});
}

// Converts between element types with defined results: floats truncate towards zero and saturate
// when they become integers (NaN becomes 0), integers wrap, anything non-zero becomes true.
template <class To, class From>
To convert(From value) {
  using Source = compute_t<From>;
  using Target = compute_t<To>;
  const Source x = static_cast<Source>(value);
  if constexpr (std::is_same_v<Target, bool>) {
    return x != Source(0);
  } else if constexpr (std::is_floating_point_v<Source> && std::is_integral_v<Target>) {
    using Limits = std::numeric_limits<Target>;
    if (x != x) return 0;  // NaN
    if (x <= static_cast<Source>(Limits::min())) return Limits::min();
    if (x >= static_cast<Source>(Limits::max())) return Limits::max();
    return static_cast<Target>(x);
  } else {
    return static_cast<To>(static_cast<Target>(x));
  }
}

}  // namespace detail

}  // namespace keratin

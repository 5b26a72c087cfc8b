#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// Numbers as they are stored in the memory of the simulated GPU, and as arithmetic uses them. All
// is stated here again, so that a mistake of the library is not made twice.
namespace keratin::simulator {

inline float from_f16(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16, exponent = half >> 10 & 31, rest = half & 1023;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(rest) * 0x1p-24F;
    return sign == 0 ? magnitude : -magnitude;
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | rest << 13);
}

// Rounded to the nearest, of two that are as near to the even one.
inline uint16_t to_f16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t half = 0x7e00;  // NaN
  if (magnitude < 0x38800000) {
    // A multiple of 2^-24: adding 2^23 rounds it to an integer.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p24F + 0x1p23F) & 0x7fffff;
  } else if (magnitude < 0x477ff000) {
    const uint32_t moved = magnitude - (112U << 23);
    half = (moved + 0xfff + (moved >> 13 & 1)) >> 13;
  } else if (magnitude <= 0x7f800000) {
    half = 0x7c00;  // 65520 and more
  }
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | half);
}

inline float from_bf16(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

// Rounded likewise.
inline uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = x == x ? bits + 0x7fff + (bits >> 16 & 1) : bits | 0x400000;
  return static_cast<uint16_t>(rounded >> 16);
}

// The bits of an f32 of which TF32 has all, 10 behind the first: the nearest, of two that are as
// near the one further from zero.
inline uint32_t to_tf32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const bool is_finite = (bits & 0x7f800000) != 0x7f800000;
  return is_finite ? (bits + 0x1000) & ~0x1fffU : bits;
}

struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};

// What a number is in arithmetic: f32 unless it is f64.
inline float widen(float x) { return x; }
inline double widen(double x) { return x; }
inline float widen(F16 x) { return from_f16(x.bits); }
inline float widen(Bf16 x) { return from_bf16(x.bits); }

inline void narrow(float x, float& to) { to = x; }
inline void narrow(double x, double& to) { to = x; }
inline void narrow(float x, F16& to) { to.bits = to_f16(x); }
inline void narrow(float x, Bf16& to) { to.bits = to_bf16(x); }

// Another number, as near as there is one: what comes out when the order of a sum changes.
inline void change_last_bit(void* number) { *static_cast<uint8_t*>(number) ^= 1; }

// relu that keeps NaN, and relu that turns NaN into 0, as some libraries do.
template <class T>
T relu(T x, bool loses_nan) {
  return x > 0 || (x != x && !loses_nan) ? x : T(0);
}

enum class Number { f32, f64, f16, bf16 };

// Calls work with a number of the type.
template <class Work>
auto with_type(Number type, const Work& work) {
  switch (type) {
    case Number::f64:
      return work(double());
    case Number::f16:
      return work(F16());
    case Number::bf16:
      return work(Bf16());
    default:
      return work(float());
  }
}

inline size_t size_of(Number type) {
  return with_type(type, [](auto number) { return sizeof number; });
}

}  // namespace keratin::simulator

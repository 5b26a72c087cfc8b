#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "keratin/tensor/dtype.h"
#include "keratin/tensor/elements.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// Vectors of the width of the level this file is compiled for, in the compiler's own vector types:
// one source, and no reliance on the autovectoriser. Only routines include it. All of it is forced
// inline, so that no copy made for a newer machine is ever shared with code for an older one.
namespace keratin::cpu::KERATIN_LEVEL {

#if defined(__AVX512F__)
inline constexpr int64_t vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int64_t vector_bytes = 32;
#else
inline constexpr int64_t vector_bytes = 16;
#endif

template <class C>
struct VecOf {
  typedef C type [[gnu::vector_size(vector_bytes)]];
  typedef C loose [[gnu::vector_size(vector_bytes), gnu::aligned(alignof(C)), gnu::may_alias]];
};
template <class C>
using Vec = typename VecOf<C>::type;
template <class T>
inline constexpr int64_t lanes = vector_bytes / static_cast<int64_t>(sizeof(compute_t<T>));

using VecF = Vec<float>;
using VecD = Vec<double>;
using VecI = Vec<int32_t>;
using VecU = Vec<uint32_t>;
using VecL = Vec<int64_t>;
typedef uint16_t HalfBits [[gnu::vector_size(vector_bytes / 2)]];
typedef uint16_t LooseHalfBits
    [[gnu::vector_size(vector_bytes / 2), gnu::aligned(2), gnu::may_alias]];

// How much of a vector a load or store touches: all lanes, or the first n of them.
struct Full {};
struct Tail {
  int64_t n;
};

// One value in all lanes. (Adding zero would not do: it changes -0, so it costs an instruction.)
template <class C>
[[gnu::always_inline]] inline Vec<C> splat(C value) {
  return value - Vec<C>{};
}

// 0, 1, 2, ... in the lanes.
template <class C>
[[gnu::always_inline]] inline Vec<C> iota() {
  Vec<C> v{};
  for (int64_t i = 0; i < lanes<C>; ++i) v[i] = static_cast<C>(i);
  return v;
}

template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To>(from);
}

[[gnu::always_inline]] inline VecF widen_bf16(HalfBits h) {
  return bits_as<VecF>(__builtin_convertvector(h, VecU) << 16);
}

// Rounds to nearest even; a NaN stays one.
[[gnu::always_inline]] inline HalfBits narrow_bf16(VecF x) {
  const VecU raw = bits_as<VecU>(x);
  const VecU rounded = (raw + 0x7fffu + ((raw >> 16) & 1u)) >> 16;
  const VecU nan = (raw >> 16) | 0x40u;
  return __builtin_convertvector(x != x ? nan : rounded, HalfBits);
}

#if defined(__AVX512F__)
[[gnu::always_inline]] inline VecF widen_f16(HalfBits h) {
  return (VecF)_mm512_maskz_cvtph_ps(0xffff, (__m256i)h);
}
[[gnu::always_inline]] inline HalfBits narrow_f16(VecF x) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return (HalfBits)_mm512_maskz_cvtps_ph(0xffff, (__m512)x, nearest);
}
#elif defined(__F16C__)
[[gnu::always_inline]] inline VecF widen_f16(HalfBits h) {
  return (VecF)_mm256_cvtph_ps((__m128i)h);
}
[[gnu::always_inline]] inline HalfBits narrow_f16(VecF x) {
  return (HalfBits)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#else
// A half denormal becomes normal by adding and taking off 2^-14, which flushing does not disturb.
[[gnu::always_inline]] inline VecF widen_f16(HalfBits h) {
  const VecU wide = __builtin_convertvector(h, VecU);
  const VecU sign = (wide & 0x8000u) << 16;
  const VecU shifted = (wide & 0x7fffu) << 13;
  const VecU exponent = shifted & 0x0f800000u;
  const VecF small = bits_as<VecF>(shifted + (113u << 23)) - splat(0x1p-14f);
  const VecU normal = shifted + (112u << 23);
  const VecU special = shifted + (224u << 23);
  const VecU magnitude = exponent == 0x0f800000u ? special
                         : exponent == 0u        ? bits_as<VecU>(small)
                                                 : normal;
  return bits_as<VecF>(magnitude | sign);
}

// Rounds to nearest even. Below 2^-14 the addition of 0.5 rounds to the spacing of half denormals.
[[gnu::always_inline]] inline HalfBits narrow_f16(VecF x) {
  const VecU raw = bits_as<VecU>(x);
  const VecU sign = (raw >> 16) & 0x8000u;
  const VecU magnitude = raw & 0x7fffffffu;
  const VecU normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const VecU small =
      bits_as<VecU>(bits_as<VecF>(magnitude) + splat(0.5f)) - std::bit_cast<uint32_t>(0.5f);
  const VecU nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  const VecU infinity = VecU{} + 0x7c00u;
  const VecU chosen = magnitude > 0x7f800000u    ? nan
                      : magnitude >= 0x477ff000u ? infinity
                      : magnitude < 0x38800000u  ? small
                                                 : normal;
  return __builtin_convertvector(chosen | sign, HalfBits);
}
#endif

[[gnu::always_inline]] inline VecF widen(HalfBits h, const Half*) { return widen_f16(h); }
[[gnu::always_inline]] inline VecF widen(HalfBits h, const BFloat16*) { return widen_bf16(h); }
[[gnu::always_inline]] inline HalfBits narrow(VecF x, const Half*) { return narrow_f16(x); }
[[gnu::always_inline]] inline HalfBits narrow(VecF x, const BFloat16*) { return narrow_bf16(x); }

template <class T>
inline constexpr bool is_half = sizeof(T) == 2;

// Reads lanes<T> elements as the type that arithmetic is done in.
template <class T>
[[gnu::always_inline]] inline Vec<compute_t<T>> load(const T* p, Full = {}) {
  if constexpr (is_half<T>) {
    return widen(*reinterpret_cast<const LooseHalfBits*>(p), p);
  } else {
    return *reinterpret_cast<const typename VecOf<T>::loose*>(p);
  }
}

// Reads tail.n elements; the other lanes hold `rest`.
template <class T>
[[gnu::always_inline]] inline Vec<compute_t<T>> load(const T* p, Tail tail,
                                                     compute_t<T> rest = {}) {
  using C = compute_t<T>;
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    const auto mask = static_cast<__mmask16>((1u << tail.n) - 1u);
    return (VecF)_mm512_mask_loadu_ps(_mm512_set1_ps(rest), mask, p);
  }
#endif
  C buffer[lanes<T>];
  if constexpr (is_half<T>) {
    T raw[lanes<T>]{};
    std::memcpy(raw, p, static_cast<size_t>(tail.n) * sizeof(T));
    const Vec<C> wide = load(raw);
    std::memcpy(buffer, &wide, sizeof(buffer));
    for (int64_t i = tail.n; i < lanes<T>; ++i) buffer[i] = rest;
  } else {
    for (int64_t i = 0; i < lanes<T>; ++i) buffer[i] = rest;
    std::memcpy(buffer, p, static_cast<size_t>(tail.n) * sizeof(T));
  }
  return load(buffer);
}

template <class T>
[[gnu::always_inline]] inline Vec<compute_t<T>> load(const T* p, Full, compute_t<T>) {
  return load(p);
}

template <class T>
[[gnu::always_inline]] inline void store(T* p, Vec<compute_t<T>> v, Full = {}) {
  if constexpr (is_half<T>) {
    *reinterpret_cast<LooseHalfBits*>(p) = narrow(v, p);
  } else {
    *reinterpret_cast<typename VecOf<T>::loose*>(p) = v;
  }
}

template <class T>
[[gnu::always_inline]] inline void store(T* p, Vec<compute_t<T>> v, Tail tail) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    const auto mask = static_cast<__mmask16>((1u << tail.n) - 1u);
    _mm512_mask_storeu_ps(p, mask, (__m512)v);
    return;
  }
#endif
  T raw[lanes<T>];
  store(raw, v);
  std::memcpy(p, raw, static_cast<size_t>(tail.n) * sizeof(T));
}

// One element read or written as the type that arithmetic is done in.
template <class T>
[[gnu::always_inline]] inline compute_t<T> get(const T* p) {
  if constexpr (is_half<T>) {
    return load(p, Tail{1})[0];
  } else {
    return *p;
  }
}
template <class T>
[[gnu::always_inline]] inline void put(T* p, compute_t<T> value) {
  if constexpr (is_half<T>) {
    store(p, splat(value), Tail{1});
  } else {
    *p = value;
  }
}

// Calls body(i, extent) for the vectors that cover [0, n); the extent is Full, at the end Tail.
template <class T, class F>
[[gnu::always_inline]] inline void each_vector(int64_t n, const F& body) {
  int64_t i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) body(i, Full{});
  if (i < n) body(i, Tail{n - i});
}

// a b + c, rounded once where the level has the instruction. Kernels are compiled without automatic
// contraction, which depends on the code around and so makes equal formulas give different bits.
#if defined(__AVX512F__)
[[gnu::always_inline]] inline VecF fma(VecF a, VecF b, VecF c) {
  return (VecF)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
[[gnu::always_inline]] inline VecD fma(VecD a, VecD b, VecD c) {
  return (VecD)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#elif defined(__FMA__)
[[gnu::always_inline]] inline VecF fma(VecF a, VecF b, VecF c) {
  return (VecF)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
[[gnu::always_inline]] inline VecD fma(VecD a, VecD b, VecD c) {
  return (VecD)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#else
[[gnu::always_inline]] inline VecF fma(VecF a, VecF b, VecF c) { return a * b + c; }
[[gnu::always_inline]] inline VecD fma(VecD a, VecD b, VecD c) { return a * b + c; }
#endif

template <class V>
[[gnu::always_inline]] inline auto differ(V a, V b) {
  return a != b;
}
// True, or all bits set in a vector's lane, where v is NaN.
template <class V>
[[gnu::always_inline]] inline auto is_nan(V v) {
  return differ(v, v);
}

// Whether any bit of a vector is set.
template <class V>
[[gnu::always_inline]] inline bool any_bit(V v) {
  const auto words = bits_as<Vec<uint64_t>>(v);
  uint64_t bits = 0;
  for (int64_t i = 0; i < lanes<uint64_t>; ++i) bits |= words[i];
  return bits != 0;
}

template <class V>
[[gnu::always_inline]] inline V max(V a, V b) {
  return a > b ? a : b;
}
template <class V>
[[gnu::always_inline]] inline V min(V a, V b) {
  return a < b ? a : b;
}

// Lane i is lane Order{}(i) of two vectors, whose lanes are numbered on from one to the other.
template <class V, class Order, size_t... lane>
[[gnu::always_inline]] inline V shuffle(V a, V b, Order, std::index_sequence<lane...>) {
  return __builtin_shufflevector(a, b, Order{}(static_cast<int>(lane))...);
}

// The lanes of a vector moved by xor with `distance`.
template <int64_t distance, class C>
[[gnu::always_inline]] inline Vec<C> swap_lanes(Vec<C> v) {
  return shuffle(
      v, v, [](int lane) { return lane ^ static_cast<int>(distance); },
      std::make_index_sequence<lanes<C>>{});
}

// The lanes of two vectors taken in turn: from their lower halves, or from their upper ones.
template <bool upper, int count, class V>
[[gnu::always_inline]] inline V interleave(V a, V b) {
  return shuffle(
      a, b, [](int lane) { return (lane + (upper ? count : 0)) / 2 + lane % 2 * count; },
      std::make_index_sequence<count>{});
}

// Combines the lanes of a vector in halves: always in the same order.
template <class C, int64_t distance = lanes<C> / 2, class F>
[[gnu::always_inline]] inline C fold_lanes(Vec<C> v, const F& combine) {
  v = combine(v, swap_lanes<distance, C>(v));
  if constexpr (distance > 1) {
    return fold_lanes<C, distance / 2>(v, combine);
  } else {
    return v[0];
  }
}
template <class C>
[[gnu::always_inline]] inline C sum_lanes(Vec<C> v) {
  return fold_lanes<C>(v, [](Vec<C> a, Vec<C> b) { return a + b; });
}
template <class C>
[[gnu::always_inline]] inline C max_lanes(Vec<C> v) {
  return fold_lanes<C>(v, [](Vec<C> a, Vec<C> b) { return max(a, b); });
}

}  // namespace keratin::cpu::KERATIN_LEVEL

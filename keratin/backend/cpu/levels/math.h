#pragma once

#include "keratin/backend/cpu/levels/simd.h"

// Elementary functions on vectors, accurate to a few units in the last place. Denormal results
// become zero, as everything does while a plan runs.
namespace keratin::cpu::KERATIN_LEVEL {

// e^r - 1 for |r| <= ln(2)/2 as its Taylor series, which there needs few terms.
[[gnu::always_inline]] inline VecF small_expm1(VecF r) {
  VecF p = splat(1.0f / 5040);
  for (const float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f}) p = fma(p, r, splat(c));
  return fma(p * r, r, r);
}
[[gnu::always_inline]] inline VecD small_expm1(VecD r) {
  VecD p = splat(1.0 / 6227020800.0);
  for (const double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                         1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5}) {
    p = fma(p, r, splat(c));
  }
  return fma(p * r, r, r);
}

// x = n ln(2) + r: `scale` is 2^n and `minus_one` is e^r - 1, so e^x = scale (1 + minus_one).
template <class V>
struct ExpParts {
  V scale, minus_one;
};

// Adding 1.5 * 2^23 rounds to an integer, found in the low bits, from where it moves into the
// exponent. n stays below 128: r is then above its range and the series still good.
[[gnu::always_inline]] inline ExpParts<VecF> split_exp(VecF x) {
  const float magic = 0x1.8p23f;
  const VecF t = min(fma(x, splat(1.44269504f), splat(magic)), splat(magic + 127));
  const VecF n = t - magic;
  const VecF r = fma(n, splat(-1.42860682e-6f), fma(n, splat(-0x1.62e4p-1f), x));
  return {bits_as<VecF>((bits_as<VecU>(t) << 23) + 0x3f800000u), small_expm1(r)};
}
[[gnu::always_inline]] inline ExpParts<VecD> split_exp(VecD x) {
  const double magic = 0x1.8p52;
  const VecD t = min(fma(x, splat(1.4426950408889634), splat(magic)), splat(magic + 1023));
  const VecD n = t - magic;
  const VecD r = fma(n, splat(-1.6465949582897082e-12), fma(n, splat(-0x1.62e42fefap-1), x));
  return {bits_as<VecD>((bits_as<Vec<uint64_t>>(t) << 52) + 0x3ff0000000000000u), small_expm1(r)};
}

[[gnu::always_inline]] inline VecF exp(VecF x) {
  const auto [scale, minus_one] = split_exp(x);
  return x < -87.336544f ? VecF{} : fma(scale, minus_one, scale);
}
[[gnu::always_inline]] inline VecD exp(VecD x) {
  const auto [scale, minus_one] = split_exp(x);
  return x < -708.39641853226408 ? VecD{} : fma(scale, minus_one, scale);
}

// 1 / (1 + e^-x)
template <class V>
[[gnu::always_inline]] inline V sigmoid(V x) {
  return 1 / (1 + exp(-x));
}

// tanh(x) = (e^2x - 1) / (e^2x + 1), with e^2x - 1 made without cancellation.
template <class V, class C>
[[gnu::always_inline]] inline V tanh_of(V x, C limit) {
  const V bounded = x > limit ? V{} + limit : x < -limit ? V{} - limit : x;
  const auto [scale, minus_one] = split_exp(V(bounded + bounded));
  const V expm1 = fma(scale, minus_one, V(scale - 1));
  return expm1 / (expm1 + 2);
}
[[gnu::always_inline]] inline VecF tanh(VecF x) { return tanh_of(x, 10.0f); }
[[gnu::always_inline]] inline VecD tanh(VecD x) { return tanh_of(x, 20.0); }

}  // namespace keratin::cpu::KERATIN_LEVEL

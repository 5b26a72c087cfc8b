#pragma once

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/tensor/elements.h"

// Loops that several families share.
namespace keratin::cpu::KERATIN_LEVEL {

// Calls body(i, acc, extent) for the vectors of a row in turn on four independent accumulators,
// which hides the latency of the combination.
template <class T, class V, class F>
[[gnu::always_inline]] inline void each_of_four(int64_t n, V (&acc)[4], const F& body) {
  constexpr int64_t width = lanes<T>;
  int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width) {
    for (int64_t k = 0; k < 4; ++k) body(i + k * width, acc[k], Full{});
  }
  for (; i + width <= n; i += width) body(i, acc[0], Full{});
  if (i < n) body(i, acc[1], Tail{n - i});
}

// The sum of term(i, extent) over a row.
template <class T, class F>
[[gnu::always_inline]] inline compute_t<T> row_sum(int64_t n, const F& term) {
  using C = compute_t<T>;
  Vec<C> acc[4]{};
  each_of_four<T>(n, acc, [&](int64_t i, Vec<C>& a, auto extent) { a += term(i, extent); });
  return sum_lanes<C>((acc[0] + acc[1]) + (acc[2] + acc[3]));
}

// out[i] = sum over chunks of partial[chunk * stride + i], always in the same order.
template <class T>
[[gnu::always_inline]] inline void combine_chunks(const compute_t<T>* partial, int64_t chunks,
                                                  int64_t stride, T* out, int64_t n) {
  using C = compute_t<T>;
  each_vector<T>(n, [&](int64_t i, auto extent) {
    Vec<C> total{};
    for (int64_t p = 0; p < chunks; ++p) total += load(partial + p * stride + i, extent);
    store(out + i, total, extent);
  });
}

}  // namespace keratin::cpu::KERATIN_LEVEL

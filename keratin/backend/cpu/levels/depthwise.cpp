#include "keratin/backend/cpu/levels/depthwise.h"

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t together = 7;  // pixels whose sums are in registers at once
constexpr int64_t tap_group = 9;

template <class T, int64_t pixels, class Extent>
[[gnu::always_inline]] inline void finish(const DepthwiseRow& row, int64_t p, int64_t c,
                                          Extent extent, Vec<compute_t<T>> (&sums)[pixels]) {
  using C = compute_t<T>;
  const C cap = static_cast<C>(row.cap);
  for (int64_t i = 0; i < row.posts; ++i) {
    const Vec<C> bias = row.post[i] == DepthwisePost::bias
                            ? load(static_cast<const T*>(row.bias) + c, extent, C(0))
                            : Vec<C>{};
    for (int64_t j = 0; j < pixels; ++j) {
      const int64_t at = (p + j) * row.y_step + c;
      if (row.post[i] == DepthwisePost::bias) sums[j] += bias;
      if (row.post[i] == DepthwisePost::addend) {
        sums[j] += load(static_cast<const T*>(row.addend) + at, extent, C(0));
      }
      if (row.post[i] == DepthwisePost::relu) sums[j] = sums[j] < C(0) ? Vec<C>{} : sums[j];
      if (row.post[i] == DepthwisePost::cap) sums[j] = sums[j] > cap ? Vec<C>{} + cap : sums[j];
    }
  }
}

template <class T, int64_t pixels, class Extent>
[[gnu::always_inline]] inline void some_pixels(const DepthwiseRow& row, int64_t p, int64_t c,
                                               Extent extent) {
  using C = compute_t<T>;
  Vec<C> sums[pixels] = {};
  const T* x = static_cast<const T*>(row.x) + p * row.x_step + c;
  for (int64_t t = 0; t < row.taps; ++t) {
    const T* w = static_cast<const T*>(row.w) + row.indices[t] * row.channels + c;
    const Vec<C> weight = load(w, extent, C(0));
#pragma GCC unroll 8
    for (int64_t j = 0; j < pixels; ++j) {
      sums[j] += load(x + j * row.x_step + row.offsets[t], extent, C(0)) * weight;
    }
  }
  if (row.posts > 0) finish<T, pixels>(row, p, c, extent, sums);
#pragma GCC unroll 8
  for (int64_t j = 0; j < pixels; ++j) {
    store(static_cast<T*>(row.y) + (p + j) * row.y_step + c, sums[j], extent);
  }
}

template <class T>
void depthwise_row(const DepthwiseRow& row) {
  int64_t p = 0;
  for (; p + together <= row.pixels; p += together) {
    each_vector<T>(row.channels,
                   [&](int64_t c, auto extent) { some_pixels<T, together>(row, p, c, extent); });
  }
  for (; p < row.pixels; ++p) {
    each_vector<T>(row.channels,
                   [&](int64_t c, auto extent) { some_pixels<T, 1>(row, p, c, extent); });
  }
}

// Adds to the sums of a few taps, which stay in registers along the row.
template <class T, int64_t count, class Extent>
[[gnu::always_inline]] inline void some_taps(const DepthwiseRow& row, compute_t<T>* sums,
                                             int64_t first, int64_t c, Extent extent) {
  using C = compute_t<T>;
  Vec<C> totals[count] = {};
  for (int64_t p = 0; p < row.pixels; ++p) {
    const T* x = static_cast<const T*>(row.x) + p * row.x_step + c;
    const Vec<C> y = load(static_cast<const T*>(row.y) + p * row.y_step + c, extent, C(0));
#pragma GCC unroll 9
    for (int64_t t = 0; t < count; ++t) {
      totals[t] += load(x + row.offsets[first + t], extent, C(0)) * y;
    }
  }
#pragma GCC unroll 9
  for (int64_t t = 0; t < count; ++t) {
    C* at = sums + row.indices[first + t] * row.channels + c;
    store(at, Vec<C>(load(at, extent, C(0)) + totals[t]), extent);
  }
}

template <class T>
void depthwise_grad_row(const DepthwiseRow& row, void* memory) {
  using C = compute_t<T>;
  C* sums = static_cast<C*>(memory);
  each_vector<T>(row.channels, [&](int64_t c, auto extent) {
    int64_t t = 0;
    for (; t + tap_group <= row.taps; t += tap_group) {
      some_taps<T, tap_group>(row, sums, t, c, extent);
    }
    for (; t + 3 <= row.taps; t += 3) some_taps<T, 3>(row, sums, t, c, extent);
    for (; t < row.taps; ++t) some_taps<T, 1>(row, sums, t, c, extent);
  });
}

constexpr DepthwiseRoutines depthwise_routines() {
  DepthwiseRoutines routines{};
  set_floats(routines.row, []<class T>(TypeTag<T>) { return &depthwise_row<T>; });
  set_floats(routines.grad_row, []<class T>(TypeTag<T>) { return &depthwise_grad_row<T>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const DepthwiseRoutines DepthwiseRoutines::KERATIN_LEVEL =
    KERATIN_LEVEL::depthwise_routines();
}  // namespace keratin::cpu

// The matrix of the windows of a convolution: a row for each position of the output, with the
// inputs under its window, zeros for padding. A convolution without groups is one matmul with it.
#pragma once

#include "keratin/backend/cuda/kernels/windows.cu"

namespace keratin::im2col {

using windows::Layout;

// Gathers the matrix; a thread has `width` neighbouring channels.
template <Layout l, int width, class Index, class T>
void gather(Index count, const T* x, T* matrix) {
  constexpr Index channels = l.channels / width, window = l.window(), positions = l.positions();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, k = i / channels % window, pixel = i / (channels * window);
    const Index o = pixel % positions, n = pixel / positions;
    const auto [inside, at] = windows::find_input<l>(o, k);
    Pack<T, width> under = {};
    if (inside)
      under = *reinterpret_cast<const Pack<T, width>*>(
          x + ((n * Index(l.inputs()) + at) * channels + c) * Index(width));
    *reinterpret_cast<Pack<T, width>*>(matrix + i * Index(width)) = under;
  });
}

// The gradient of the input: each element adds up its elements of the matrix's gradient.
template <Layout l, class Index, class T>
void scatter(Index count, const T* matrix, T* dx) {
  constexpr Index channels = l.channels, inputs = l.inputs(), window = l.window();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, x = i / channels % inputs, n = i / (channels * inputs);
    compute_t<T> total = 0;
    for (Index k = 0; k < window; ++k) {
      const auto [inside, o] = windows::find_output<l>(x, k);
      if (inside)
        total += load(matrix[((n * Index(l.positions()) + o) * window + k) * channels + c]);
    }
    dx[i] = T(total);
  });
}

}  // namespace keratin::im2col

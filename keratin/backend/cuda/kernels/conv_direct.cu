// Convolutions over few numbers per window, straight from their definition. A window's numbers are
// its taps: k · channels + d for channel d under its element k.
#pragma once

#include "keratin/backend/cuda/kernels/windows.cu"

namespace keratin::direct {

using windows::Layout;

// A thread computes `width` neighbouring channels of one position: y = finished(Σ x · filter, …).
// The filter, scaled(…) for each output channel, is in shared memory.
template <Layout l, int width, class Index, class T, class Scaled, class Finished>
void conv(Index count, const T* x, const T* w, T* y, Scaled scaled, Finished finished) {
  using C = compute_t<T>;
  constexpr Index positions = l.positions(), groups = l.outputs / width;
  constexpr int channels = l.channels, outputs = l.outputs;
  constexpr int elements = l.window() * l.channels * l.outputs;
  __shared__ C filter[elements];
  for (int i = threadIdx.x; i < elements; i += block_size)
    filter[i] = scaled(load(w[i]), i % Index(outputs));
  __syncthreads();
  for_each_element(count, [&](Index i) {
    const Index first = i % groups * Index(width), pixel = i / groups, o = pixel % positions,
                n = pixel / positions, at = i * Index(width);
    C total[width] = {};
#pragma unroll
    for (Index k = 0; k < Index(l.window()); ++k) {
      const auto [inside, from] = windows::find_input<l>(o, k);
      if (!inside) continue;
#pragma unroll
      for (int d = 0; d < channels; ++d) {
        const C under = load(x[(n * Index(l.inputs()) + from) * Index(channels) + d]);
#pragma unroll
        for (int e = 0; e < width; ++e)
          total[e] = fma(under, filter[(k * channels + d) * outputs + first + e], total[e]);
      }
    }
    Pack<T, width> result;
#pragma unroll
    for (int e = 0; e < width; ++e) result.items[e] = T(finished(total[e], first + e, at + e));
    *reinterpret_cast<Pack<T, width>*>(y + at) = result;
  });
}

// The gradient of the filter from a chunk of all positions: partial[block][tap][output]. A block
// has `lanes` output channels; `rows` threads share the positions of each.
template <Layout l, int lanes, int rows, class Index, class T>
void add_chunk(Index chunk, Index all, const T* x, const T* dy, compute_t<T>* partial) {
  using C = compute_t<T>;
  constexpr Index positions = l.positions(), outputs = l.outputs;
  constexpr int channels = l.channels, taps = l.window() * l.channels;
  const Index m = blockIdx.y * Index(lanes) + threadIdx.x;
  const Index end = min((blockIdx.x + 1) * chunk, all);
  __shared__ C shared[lanes * rows];
  C total[taps] = {};
  if (m < outputs) {
#pragma unroll 4
    for (Index at = blockIdx.x * chunk + threadIdx.y; at < end; at += rows) {
      const Index o = at % positions, n = at / positions;
      const C slope = load(dy[at * outputs + m]);
#pragma unroll
      for (Index k = 0; k < Index(l.window()); ++k) {
        const auto [inside, from] = windows::find_input<l>(o, k);
        if (!inside) continue;
#pragma unroll
        for (int d = 0; d < channels; ++d) {
          const C under = load(x[(n * Index(l.inputs()) + from) * Index(channels) + d]);
          total[k * channels + d] = fma(under, slope, total[k * channels + d]);
        }
      }
    }
  }
#pragma unroll
  for (int t = 0; t < taps; ++t) {
    const C sum = combine<scalar::Add, rows, lanes>(total[t], shared, threadIdx.y, threadIdx.x);
    if (threadIdx.y == 0 && m < outputs)
      partial[(blockIdx.x * Index(taps) + t) * outputs + m] = sum;
  }
}

// Adds up the chunks, in order: `lanes` threads for each of `lanes` elements of a block.
template <Layout l, int lanes, class Index, class T>
void join_chunks(Index chunks, const compute_t<T>* partial, T* dfilter) {
  using C = compute_t<T>;
  constexpr Index elements = l.window() * l.channels * l.outputs;
  const Index i = blockIdx.x * Index(lanes) + threadIdx.x;
  __shared__ C shared[lanes * lanes];
  C total = 0;
  if (i < elements) {
#pragma unroll 8
    for (Index b = threadIdx.y; b < chunks; b += lanes) total += partial[b * elements + i];
  }
  total = combine<scalar::Add, lanes, lanes>(total, shared, threadIdx.y, threadIdx.x);
  if (threadIdx.y == 0 && i < elements) dfilter[i] = T(total);
}

}  // namespace keratin::direct

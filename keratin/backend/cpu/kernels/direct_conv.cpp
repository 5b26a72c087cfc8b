#include "keratin/backend/cpu/kernels/direct_conv.h"

#include "keratin/backend/cpu/kernels/level.h"
#include "keratin/backend/cpu/kernels/rows.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t width = lanes<float>;
// Pixels and taps worked on together: as many as the registers hold beside two vectors of outputs.
constexpr int pixel_block = vector_bytes == 64 ? 6 : 4;
constexpr int tap_block = vector_bytes == 64 ? 9 : 5;

struct Range {
  int64_t begin, end;
};

// The window places k in [0, window) for which output o sees an input.
[[gnu::always_inline]] inline Range places(const DirectConvShape& s, int axis, int64_t o) {
  const int64_t first = o * s.stride[axis] - s.pad[axis], step = s.dilation[axis];
  const int64_t begin = first >= 0 ? 0 : (-first + step - 1) / step;
  const int64_t left = s.in[axis] - first;
  const int64_t end = left <= 0 ? 0 : std::min((left + step - 1) / step, s.window[axis]);
  return {begin, std::max(begin, end)};
}

// The outputs of a row whose window lies wholly inside.
[[gnu::always_inline]] inline Range interior(const DirectConvShape& s) {
  const int64_t stride = s.stride[1], reach = (s.window[1] - 1) * s.dilation[1];
  const int64_t begin = (s.pad[1] + stride - 1) / stride;
  const int64_t last = s.in[1] - 1 - reach + s.pad[1];  // the last start that fits
  const int64_t end = last < 0 ? 0 : std::min(last / stride + 1, s.out[1]);
  return {std::min(begin, s.out[1]), std::max(std::min(begin, s.out[1]), end)};
}

// One row of outputs: where it reads and writes, and which rows of the window lie inside.
struct Row {
  const float* x;  // of the first row of the window at output 0, possibly outside
  int64_t y;       // offset of its first element
  Range rows;
};

[[gnu::always_inline]] inline Row row_of(const DirectConvShape& s, const float* x, int64_t row) {
  const int64_t n = row / s.out[0], o = row % s.out[0];
  const int64_t first = n * s.in[0] + o * s.stride[0] - s.pad[0];
  return {x + (first * s.in[1] - s.pad[1]) * s.in_channels, row * s.out[1] * s.out_channels,
          places(s, 0, o)};
}

// `pixels` outputs in a row by `vectors` vectors of channels.
template <int pixels, int vectors, class Extent>
[[gnu::always_inline]] inline void block(const DirectConvArgs& a, const Row& row, int64_t o,
                                         int64_t channel, Range columns, Extent part) {
  const DirectConvShape& s = a.shape;
  VecF acc[pixels][vectors];
  for (int v = 0; v < vectors; ++v) {
    const VecF bias = a.bias ? load(a.bias + channel + v * width, part) : VecF{};
    for (int p = 0; p < pixels; ++p) acc[p][v] = bias;
  }
  const int64_t step = s.stride[1] * s.in_channels;
  for (int64_t k0 = row.rows.begin; k0 < row.rows.end; ++k0) {
    const float* const line = row.x + k0 * s.dilation[0] * s.in[1] * s.in_channels + o * step;
    for (int64_t k1 = columns.begin; k1 < columns.end; ++k1) {
      const float* const x = line + k1 * s.dilation[1] * s.in_channels;
      const float* w = a.w + (k0 * s.window[1] + k1) * s.in_channels * s.out_channels + channel;
      for (int64_t c = 0; c < s.in_channels; ++c, w += s.out_channels) {
        for (int v = 0; v < vectors; ++v) {
          const VecF tap = load(w + v * width, part);
          for (int p = 0; p < pixels; ++p) acc[p][v] = fma(splat(x[p * step + c]), tap, acc[p][v]);
        }
      }
    }
  }
  for (int p = 0; p < pixels; ++p) {
    float* const y = a.y + row.y + (o + p) * s.out_channels + channel;
    for (int v = 0; v < vectors; ++v) {
      const VecF out = a.relu ? max(acc[p][v], VecF{}) : acc[p][v];
      store(y + v * width, out, part);
    }
  }
}

template <int vectors, class Extent>
[[gnu::always_inline]] inline void channels_of_row(const DirectConvArgs& a, const Row& row,
                                                   int64_t channel, Extent part) {
  const DirectConvShape& s = a.shape;
  const Range inside = interior(s), all{0, s.window[1]};
  int64_t o = 0;
  for (; o < inside.begin; ++o) block<1, vectors>(a, row, o, channel, places(s, 1, o), part);
  for (; o + pixel_block <= inside.end; o += pixel_block) {
    block<pixel_block, vectors>(a, row, o, channel, all, part);
  }
  for (; o < s.out[1]; ++o) block<1, vectors>(a, row, o, channel, places(s, 1, o), part);
}

[[gnu::noinline]] void forward_row(const DirectConvArgs& a, int64_t index) {
  const DirectConvShape& s = a.shape;
  const Row row = row_of(s, a.x, index);
  int64_t channel = 0;
  for (; channel + 2 * width <= s.out_channels; channel += 2 * width) {
    channels_of_row<2>(a, row, channel, Full{});
  }
  each_vector<float>(s.out_channels - channel,
                     [&](int64_t i, auto part) { channels_of_row<1>(a, row, channel + i, part); });
}

void forward(const DirectConvArgs& a) {
  const DirectConvShape& s = a.shape;
  const int64_t work = s.out[1] * s.out_channels * s.taps() / 4 + 1;
  parallel_for(a.threads, s.batch * s.out[0], 16384 / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) forward_row(a, row);
  });
}

// One weight for each of several taps, by vectors of channels: dw[tap] += x[pixel + offset] dy.
template <int taps, int vectors, class Extent>
[[gnu::always_inline]] inline void grad_taps(const DirectConvGradArgs& a, const float* const* x,
                                             const float* dy, float* dw, Range outputs,
                                             Extent part) {
  const DirectConvShape& s = a.shape;
  const int64_t step = s.stride[1] * s.in_channels;
  VecF acc[taps][vectors];
  for (int t = 0; t < taps; ++t) {
    for (int v = 0; v < vectors; ++v) {
      acc[t][v] = load(dw + t * s.out_channels + v * width, part);
    }
  }
  for (int64_t o = outputs.begin; o < outputs.end; ++o) {
    VecF d[vectors];
    for (int v = 0; v < vectors; ++v) d[v] = load(dy + o * s.out_channels + v * width, part);
    for (int t = 0; t < taps; ++t) {
      const VecF value = splat(x[t][o * step]);
      for (int v = 0; v < vectors; ++v) acc[t][v] = fma(value, d[v], acc[t][v]);
    }
  }
  for (int t = 0; t < taps; ++t) {
    for (int v = 0; v < vectors; ++v) {
      store(dw + t * s.out_channels + v * width, acc[t][v], part);
    }
  }
}

// All taps of a row of outputs for some channels: where every window is inside several taps at a
// time, at the edges one tap at a time.
template <int vectors, class Extent>
[[gnu::always_inline]] inline void grad_channels(const DirectConvGradArgs& a, const Row& row,
                                                 float* dw, int64_t channel, Extent part) {
  const DirectConvShape& s = a.shape;
  const float* const dy = a.dy + row.y + channel;
  const Range inside = interior(s);
  const int64_t line_taps = s.window[1] * s.in_channels;
  const int64_t first = row.rows.begin * line_taps, last = row.rows.end * line_taps;
  const auto input = [&](int64_t tap) {
    const int64_t k0 = tap / line_taps, k1 = tap % line_taps / s.in_channels;
    return row.x + (k0 * s.dilation[0] * s.in[1] + k1 * s.dilation[1]) * s.in_channels +
           tap % s.in_channels;
  };
  const auto weights = [&](int64_t tap) { return dw + tap * s.out_channels + channel; };
  int64_t tap = first;
  for (; tap + tap_block <= last; tap += tap_block) {
    const float* x[tap_block];
    for (int t = 0; t < tap_block; ++t) x[t] = input(tap + t);
    grad_taps<tap_block, vectors>(a, x, dy, weights(tap), inside, part);
  }
  for (; tap < last; ++tap) {
    const float* const x = input(tap);
    grad_taps<1, vectors>(a, &x, dy, weights(tap), inside, part);
  }
  const auto edge = [&](int64_t o) {
    const Range columns = places(s, 1, o);
    for (int64_t t = first; t < last; ++t) {
      const int64_t k1 = t % line_taps / s.in_channels;
      if (k1 < columns.begin || k1 >= columns.end) continue;
      const float* const x = input(t);
      grad_taps<1, vectors>(a, &x, dy, weights(t), {o, o + 1}, part);
    }
  };
  for (int64_t o = 0; o < inside.begin; ++o) edge(o);
  for (int64_t o = inside.end; o < s.out[1]; ++o) edge(o);
}

[[gnu::noinline]] void grad_row(const DirectConvGradArgs& a, int64_t index, float* dw) {
  const DirectConvShape& s = a.shape;
  const Row row = row_of(s, a.x, index);
  float* const sums = dw + s.taps() * s.out_channels;
  int64_t channel = 0;
  for (; channel + 2 * width <= s.out_channels; channel += 2 * width) {
    grad_channels<2>(a, row, dw, channel, Full{});
  }
  each_vector<float>(s.out_channels - channel, [&](int64_t i, auto part) {
    grad_channels<1>(a, row, dw, channel + i, part);
  });
  if (!a.dbias) return;
  each_vector<float>(s.out_channels, [&](int64_t i, auto part) {
    VecF total = load(sums + i, part);
    for (int64_t o = 0; o < s.out[1]; ++o) {
      total += load(a.dy + row.y + o * s.out_channels + i, part);
    }
    store(sums + i, total, part);
  });
}

void grad_filter(const DirectConvGradArgs& a) {
  const DirectConvShape& s = a.shape;
  const FixedSplit split = direct_conv_split(s);
  const int64_t weights = s.taps() * s.out_channels, stride = weights + s.out_channels;
  float* const partial = static_cast<float*>(a.scratch);
  const int64_t work = s.batch * s.out[0] * s.out[1] * weights / (4 * split.parts) + 1;
  parallel_for(a.threads, split.parts, 16384 / work + 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      float* const sums = partial + part * stride;
      std::fill_n(sums, stride, 0.0f);
      for (int64_t row = split.begin(part); row < split.end(part); ++row) grad_row(a, row, sums);
    }
  });
  combine_parts(partial, split.parts, stride, a.dw, weights);
  if (a.dbias) combine_parts(partial + weights, split.parts, stride, a.dbias, s.out_channels);
}

}  // namespace

void add_direct_conv(DirectConvKernels& k) { k = {forward, grad_filter}; }

}  // namespace keratin::cpu::KERATIN_LEVEL

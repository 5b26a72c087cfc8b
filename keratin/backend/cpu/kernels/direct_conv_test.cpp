#include "keratin/backend/cpu/kernels/direct_conv.h"

#include "keratin/backend/cpu/kernels/kernel_testing.h"

namespace keratin::cpu {
namespace {

DirectConvShape make_shape(int64_t batch, int64_t size0, int64_t size1, int64_t in_channels,
                           int64_t out_channels, int64_t window, int64_t stride, int64_t dilation,
                           int64_t pad) {
  DirectConvShape s{.batch = batch, .in_channels = in_channels, .out_channels = out_channels};
  const int64_t size[2] = {size0, size1};
  for (int k = 0; k < 2; ++k) {
    s.in[k] = size[k], s.window[k] = window, s.stride[k] = stride, s.dilation[k] = dilation;
    s.pad[k] = pad;
    const int64_t reach = (window - 1) * dilation + 1;
    s.out[k] = std::max<int64_t>((size[k] + 2 * pad - reach) / stride + 1, 0);
  }
  return s;
}

const DirectConvShape all_shapes[] = {
    make_shape(3, 9, 13, 1, 32, 3, 1, 1, 0),  make_shape(3, 9, 13, 1, 32, 3, 1, 1, 1),
    make_shape(2, 11, 17, 3, 20, 3, 2, 1, 1), make_shape(2, 12, 12, 3, 64, 5, 1, 1, 2),
    make_shape(2, 15, 15, 2, 7, 3, 1, 2, 2),  make_shape(1, 5, 30, 4, 35, 1, 1, 1, 0),
    make_shape(1, 3, 3, 1, 16, 3, 1, 1, 2),   make_shape(2, 2, 2, 1, 8, 3, 1, 1, 1),
    make_shape(0, 5, 5, 1, 8, 3, 1, 1, 1),    make_shape(1, 20, 20, 3, 33, 7, 2, 1, 3),
};

// Calls body(input, weight, output) for all that are multiplied and added.
template <class F>
void each_product(const DirectConvShape& s, const F& body) {
  const int64_t pixels = s.batch * s.out[0] * s.out[1];
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    const int64_t o1 = pixel % s.out[1], o0 = pixel / s.out[1] % s.out[0];
    const int64_t n = pixel / s.out[1] / s.out[0];
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      const int64_t c = tap % s.in_channels, k1 = tap / s.in_channels % s.window[1];
      const int64_t k0 = tap / s.in_channels / s.window[1];
      const int64_t i0 = o0 * s.stride[0] - s.pad[0] + k0 * s.dilation[0];
      const int64_t i1 = o1 * s.stride[1] - s.pad[1] + k1 * s.dilation[1];
      if (i0 < 0 || i0 >= s.in[0] || i1 < 0 || i1 >= s.in[1]) continue;
      const int64_t x = ((n * s.in[0] + i0) * s.in[1] + i1) * s.in_channels + c;
      for (int64_t f = 0; f < s.out_channels; ++f) {
        body(static_cast<size_t>(x), static_cast<size_t>(tap * s.out_channels + f),
             static_cast<size_t>(pixel * s.out_channels + f));
      }
    }
  }
}

TEST(DirectConv, MatchesTheDefinition) {
  for (const DirectConvShape& s : all_shapes) {
    const auto x = random_values<float>(s.batch * s.in[0] * s.in[1] * s.in_channels, 1);
    const auto w = random_values<float>(s.taps() * s.out_channels, 2);
    const auto bias = random_values<float>(s.out_channels, 3);
    const auto count = static_cast<size_t>(s.batch * s.out[0] * s.out[1] * s.out_channels);
    for (const bool fused : {false, true}) {
      std::vector<double> want(count);
      each_product(
          s, [&](size_t i, size_t k, size_t o) { want[o] += static_cast<double>(x[i]) * w[k]; });
      for (size_t o = 0; fused && o < count; ++o) {
        want[o] = std::max(want[o] + bias[o % static_cast<size_t>(s.out_channels)], 0.0);
      }
      on_every_level(
          [&](const KernelTable& k, int threads) {
            std::vector<float> y(count);
            k.direct_conv.forward(
                {x.data(), w.data(), fused ? bias.data() : nullptr, y.data(), fused, s, threads});
            return y;
          },
          [&](const std::vector<float>& y) { expect_close(y, want, 16, 8); });
    }
  }
}

TEST(DirectConv, FilterGradientMatchesTheDefinition) {
  for (const DirectConvShape& s : all_shapes) {
    const auto x = random_values<float>(s.batch * s.in[0] * s.in[1] * s.in_channels, 1);
    const auto dy = random_values<float>(s.batch * s.out[0] * s.out[1] * s.out_channels, 2);
    const auto weights = static_cast<size_t>(s.taps() * s.out_channels);
    const auto channels = static_cast<size_t>(s.out_channels);
    std::vector<double> want(weights + channels);
    each_product(
        s, [&](size_t i, size_t k, size_t o) { want[k] += static_cast<double>(x[i]) * dy[o]; });
    for (size_t o = 0; o < dy.size(); ++o) want[weights + o % channels] += dy[o];
    on_every_level(
        [&](const KernelTable& k, int threads) {
          std::vector<float> out(weights + channels);
          std::vector<char> scratch(static_cast<size_t>(direct_conv_scratch(s)));
          k.direct_conv.grad_filter(
              {x.data(), dy.data(), out.data(), out.data() + weights, s, scratch.data(), threads});
          return out;
        },
        [&](const std::vector<float>& out) { expect_close(out, want, 32, 16); });
  }
}

}  // namespace
}  // namespace keratin::cpu

#pragma once

#include <cmath>

#include "keratin/backend/cpu/levels/level_testing.h"
#include "keratin/backend/cpu/tile/conv.h"
#include "keratin/tensor/buffer.h"
#include "keratin/tensor/elements.h"

// The definition of a convolution and its gradients, in double, and runs of ours beside it.
namespace keratin::cpu {

struct ConvCase {
  int64_t batch, channels, filters, groups = 1;
  Spatial input, kernel, stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0}, pad_end{0, 0, 0};
  std::vector<TilePost> post = {};
};

inline ConvDesc describe(const ConvCase& test, DType dtype) {
  ConvDesc desc{.dtype = dtype,
                .batch = test.batch,
                .channels = test.channels,
                .filters = test.filters,
                .groups = test.groups,
                .input = test.input,
                .kernel = test.kernel,
                .stride = test.stride,
                .dilation = test.dilation,
                .pad = test.pad,
                .post = test.post,
                .cap = 0.25};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t reach = (test.kernel[d] - 1) * test.dilation[d] + 1;
    const int64_t room = test.input[d] + test.pad[d] + test.pad_end[d] - reach;
    desc.output[d] = room < 0 ? 0 : room / test.stride[d] + 1;
  }
  return desc;
}

template <class T>
struct ConvRun {
  ConvDesc desc;
  std::vector<T> x, w, y, bias, addend;

  explicit ConvRun(const ConvDesc& d) : desc(d) {
    x = random_values<T>(desc.batch * desc.input_size() * desc.channels, 1);
    w = random_values<T>(desc.taps() * desc.group_channels() * desc.filters, 2);
    y = random_values<T>(desc.batch * desc.output_size() * desc.filters, 3);
    bias = random_values<T>(desc.filters, 4);
    addend = random_values<T>(desc.batch * desc.output_size() * desc.filters, 5);
  }

  // Calls body(index in x, in w, in y) for every multiplication of the convolution.
  template <class F>
  void each_term(const F& body) const {
    Spatial o, k, i;
    for (int64_t n = 0; n < desc.batch; ++n) {
      for (o[0] = 0; o[0] < desc.output[0]; ++o[0]) {
        for (o[1] = 0; o[1] < desc.output[1]; ++o[1]) {
          for (o[2] = 0; o[2] < desc.output[2]; ++o[2]) {
            for (k[0] = 0; k[0] < desc.kernel[0]; ++k[0]) {
              for (k[1] = 0; k[1] < desc.kernel[1]; ++k[1]) {
                for (k[2] = 0; k[2] < desc.kernel[2]; ++k[2]) {
                  bool inside = true;
                  for (size_t d = 0; d < 3; ++d) {
                    i[d] = o[d] * desc.stride[d] + k[d] * desc.dilation[d] - desc.pad[d];
                    inside = inside && i[d] >= 0 && i[d] < desc.input[d];
                  }
                  if (inside) each_channel(n, o, k, i, body);
                }
              }
            }
          }
        }
      }
    }
  }

  template <class F>
  void each_channel(int64_t n, const Spatial& o, const Spatial& k, const Spatial& i,
                    const F& body) const {
    const auto at = [](int64_t outer, const Spatial& p, const Spatial& size) {
      return ((outer * size[0] + p[0]) * size[1] + p[1]) * size[2] + p[2];
    };
    const int64_t xp = at(n, i, desc.input) * desc.channels;
    const int64_t yp = at(n, o, desc.output) * desc.filters;
    const int64_t tap = at(0, k, desc.kernel);
    for (int64_t f = 0; f < desc.filters; ++f) {
      const int64_t group = f / desc.group_filters();
      for (int64_t c = 0; c < desc.group_channels(); ++c) {
        body(static_cast<size_t>(xp + group * desc.group_channels() + c),
             static_cast<size_t>((tap * desc.group_channels() + c) * desc.filters + f),
             static_cast<size_t>(yp + f));
      }
    }
  }

  std::vector<double> expected(ConvDirection direction) const {
    const bool forward = direction == ConvDirection::forward;
    const bool to_x = direction == ConvDirection::grad_input;
    std::vector<double> want(forward ? y.size() : to_x ? x.size() : w.size());
    each_term([&](size_t xi, size_t wi, size_t yi) {
      if (forward) {
        want[yi] += value_of(x[xi]) * value_of(w[wi]);
      } else if (to_x) {
        want[xi] += value_of(y[yi]) * value_of(w[wi]);
      } else {
        want[wi] += value_of(x[xi]) * value_of(y[yi]);
      }
    });
    for (size_t i = 0; forward && i < want.size(); ++i) {
      for (const TilePost post : desc.post) {
        if (post == TilePost::bias) want[i] += value_of(bias[i % size_t(desc.filters)]);
        if (post == TilePost::addend) want[i] += value_of(addend[i]);
        if (post == TilePost::relu) want[i] = std::max(want[i], 0.0);
        if (post == TilePost::cap) want[i] = std::min(want[i], desc.cap);
      }
    }
    return want;
  }

  std::vector<T> run(ConvDirection direction, const ConvOptions& options) const {
    return run(*make_conv(desc, direction, options), w.data(), direction);
  }

  // The forward direction, with a filter that was packed before.
  std::vector<T> run_packed(const ConvOptions& options) const {
    ConvDesc packed = desc;
    packed.packed_filter = true;
    const auto conv = make_conv(packed, ConvDirection::forward, options);
    const Buffer filter = Buffer::allocate(conv->packed_bytes());
    conv->pack(w.data(), filter.data());
    return run(*conv, filter.data(), ConvDirection::forward);
  }

  std::vector<T> run(const Conv& conv, const void* filter, ConvDirection direction) const {
    const Buffer scratch = Buffer::allocate(conv.scratch_bytes());
    std::vector<T> result(expected_size(direction), convert<T>(99.0));
    conv.run({.x = x.data(),
              .filter = filter,
              .y = y.data(),
              .result = result.data(),
              .bias = bias.data(),
              .addend = addend.data(),
              .scratch = scratch.data()});
    return result;
  }

  size_t expected_size(ConvDirection direction) const {
    if (direction == ConvDirection::forward) return y.size();
    return direction == ConvDirection::grad_input ? x.size() : w.size();
  }
};

// All directions and levels, and several thread counts, which must not change a bit.
template <class T>
void check_conv(const ConvCase& test) {
  const ConvRun<T> run(describe(test, dtype_of<T>()));
  for (const auto direction :
       {ConvDirection::forward, ConvDirection::grad_input, ConvDirection::grad_filter}) {
    const auto want = run.expected(direction);
    // As for a matmul: a sum wanders about the root of its length far.
    const double terms = run.desc.flops() / 2 / double(std::max<size_t>(want.size(), 1));
    const double scale = sizeof(T) == 2 ? 1 : 2 + std::sqrt(terms);
    const double slack = sizeof(T) == 2 ? 1 : 2 * scale;
    for (const Level level : levels()) {
      ConvOptions options{.threads = 1, .deterministic = true, .level = level};
      SCOPED_TRACE(::testing::Message()
                   << "direction " << int(direction) << ", level v" << int(level) + 2 << ", "
                   << make_conv(run.desc, direction, options)->describe());
      const auto alone = run.run(direction, options);
      expect_close(alone, want, slack, scale);
      if (direction == ConvDirection::forward && takes_packed_filter(run.desc))
        expect_same_bits(run.run_packed(options), alone);
      for (options.threads = 2; options.threads <= 3; ++options.threads) {
        options.deterministic = true;
        expect_same_bits(run.run(direction, options), alone);
        options.deterministic = false;
        expect_close(run.run(direction, options), want, slack, scale);
      }
    }
  }
}

}  // namespace keratin::cpu

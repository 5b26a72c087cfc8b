#pragma once

#include <cstdint>

#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu {

// A 2-d convolution, channels last, filter [window, window, in_channels, out_channels]. Meant for
// few input channels (images), where a matrix product has too short an inner dimension.
struct DirectConvShape {
  int64_t batch, in_channels, out_channels;
  int64_t in[2], out[2], window[2], stride[2], dilation[2];
  int64_t pad[2];  // zeros before the first element

  int64_t taps() const { return window[0] * window[1] * in_channels; }
};

// y = x * w + bias, then max(y, 0) with relu. f32.
struct DirectConvArgs {
  const float* x;
  const float* w;
  const float* bias;  // or null
  float* y;
  bool relu;
  DirectConvShape shape;
  int threads;
};

// dw = the gradient by the filter; dbias, if not null, the sum of dy.
struct DirectConvGradArgs {
  const float* x;
  const float* dy;
  float* dw;
  float* dbias;
  DirectConvShape shape;
  void* scratch;  // direct_conv_scratch bytes
  int threads;
};

inline FixedSplit direct_conv_split(const DirectConvShape& s) {
  return fixed_split(s.batch * s.out[0], 8);
}
inline int64_t direct_conv_scratch(const DirectConvShape& s) {
  return direct_conv_split(s).parts * (s.taps() + 1) * s.out_channels * 4;
}

struct DirectConvKernels {
  void (*forward)(const DirectConvArgs&);
  void (*grad_filter)(const DirectConvGradArgs&);
};

}  // namespace keratin::cpu

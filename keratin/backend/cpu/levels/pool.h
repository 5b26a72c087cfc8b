#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// Windows over up to three spatial axes, channels last: x[batch, in0, in1, in2, channels] and
// y[batch, out0, out1, out2, channels]. Unused axes have sizes, windows and strides of 1.
struct PoolShape {
  int64_t batch, channels;
  int64_t in[3], out[3], window[3], stride[3];
  int64_t pad[3];  // before the first element; what lies outside is left out

  int64_t window_size() const { return window[0] * window[1] * window[2]; }
};

// y = max over the window (NaN wins) and index, the position in the window of the first
// largest, as u8, or as i32 when the window has more than 256 positions. Either may be null.
struct MaxPoolArgs {
  const void* x;
  void* y;
  void* index;
  PoolShape shape;
  int threads;
};

// dx = dy where the window's index points at the element, summed over windows.
struct MaxPoolGradArgs {
  const void* dy;
  const void* index;
  void* dx;
  PoolShape shape;
  int threads;
};

// y = mean over the elements of the window that lie inside; dx likewise.
struct AvgPoolArgs {
  const void* x;
  void* y;
  PoolShape shape;
  int threads;
};
struct AvgPoolGradArgs {
  const void* dy;
  void* dx;
  PoolShape shape;
  int threads;
};

struct PoolRoutines {
  ByDType<void (*)(const MaxPoolArgs&)> max_pool;
  ByDType<void (*)(const MaxPoolGradArgs&)> max_pool_grad;
  ByDType<void (*)(const AvgPoolArgs&)> avg_pool;
  ByDType<void (*)(const AvgPoolGradArgs&)> avg_pool_grad;

  static const PoolRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

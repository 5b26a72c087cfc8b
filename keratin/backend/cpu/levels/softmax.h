#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// Along the middle axis of [outer, axis, inner]; x and y may be the same memory.
struct SoftmaxArgs {
  const void* x;
  void* y;
  int64_t outer, axis, inner;
  int threads;
};

// y is the result of the forward routine; dx may be the memory of dy.
struct SoftmaxGradArgs {
  const void* y;
  const void* dy;
  void* dx;
  int64_t outer, axis, inner;
  int threads;
};

struct SoftmaxRoutines {
  ByDType<void (*)(const SoftmaxArgs&)> softmax;               // e^(x - max x) / sum e^(x - max x)
  ByDType<void (*)(const SoftmaxArgs&)> log_softmax;           // x - max x - log sum e^(x - max x)
  ByDType<void (*)(const SoftmaxGradArgs&)> softmax_grad;      // y (dy - sum dy y)
  ByDType<void (*)(const SoftmaxGradArgs&)> log_softmax_grad;  // dy - e^y sum dy

  static const SoftmaxRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

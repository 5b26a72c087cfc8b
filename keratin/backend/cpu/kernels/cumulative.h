#pragma once

#include <cstdint>

#include "keratin/backend/cpu/kernels/by_dtype.h"

namespace keratin::cpu {

// y[o, k, i] = op of x[o, j, i] over j <= k (j < k when exclusive; from the end when reverse).
struct CumulativeArgs {
  const void* x;
  void* y;
  int64_t outer, axis, inner;
  bool exclusive, reverse;
  int threads;
};

struct CumulativeKernels {
  ByDType<void (*)(const CumulativeArgs&)> sum, prod;
};

}  // namespace keratin::cpu

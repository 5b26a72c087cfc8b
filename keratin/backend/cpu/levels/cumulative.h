#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// y[o, k, i] = op of x[o, j, i] over j <= k (j < k when exclusive; from the end when reverse).
struct CumulativeArgs {
  const void* x;
  void* y;
  int64_t outer, axis, inner;
  bool exclusive, reverse;
  int threads;
};

struct CumulativeRoutines {
  ByDType<void (*)(const CumulativeArgs&)> sum, prod;

  static const CumulativeRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

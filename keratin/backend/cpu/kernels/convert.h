#pragma once

#include <cstdint>

#include "keratin/backend/cpu/kernels/by_dtype.h"

namespace keratin::cpu {

struct ConvertArgs {
  const void* src;
  void* dst;
  int64_t count;
  int threads;
};

// convert[from][to], with the meaning of keratin::convert in tensor/dtype.h.
struct ConvertKernels {
  ByDType<void (*)(const ConvertArgs&)> convert[9];
};

}  // namespace keratin::cpu

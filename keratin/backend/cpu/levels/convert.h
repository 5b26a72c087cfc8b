#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

struct ConvertArgs {
  const void* src;
  void* dst;
  int64_t count;
  int threads;
};

// convert[from][to], with the meaning of keratin::convert in tensor/dtype.h.
struct ConvertRoutines {
  ByDType<void (*)(const ConvertArgs&)> convert[9];

  static const ConvertRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

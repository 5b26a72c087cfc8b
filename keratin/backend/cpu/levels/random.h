#pragma once

#include <cstdint>

namespace keratin::cpu {

// out[i] = philox_bits(seed, offset + i), see ops/philox.h.
struct RandomBitsArgs {
  uint32_t* out;
  int64_t count;
  uint64_t seed, offset;
  int threads;
};

struct RandomRoutines {
  void (*bits)(const RandomBitsArgs&);

  static const RandomRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"
#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu {

// y[outer, inner] = op over the middle axis of x[outer, axis, inner]. Over an empty axis: sum 0,
// prod 1, max and min the lowest and highest value of the type. NaN wins in max and min.
struct ReduceArgs {
  const void* x;
  void* y;
  int64_t outer, axis, inner;
  void* scratch;  // reduce_scratch bytes
  int threads;
};

// How the axis is cut when there is too little else to share between threads.
inline FixedSplit reduce_split(int64_t outer, int64_t axis, int64_t inner) {
  if (outer * ((inner + 255) / 256) >= max_chunks) return {axis, 1};
  return fixed_split(axis, 16384 / (inner + 1) + 64);
}
inline int64_t reduce_scratch(int64_t outer, int64_t axis, int64_t inner) {
  const int64_t chunks = reduce_split(outer, axis, inner).chunks;
  return chunks > 1 ? outer * chunks * inner * 8 : 0;
}

// The first position of the largest (smallest) element, as i32 or i64; NaN wins. The axis is not
// empty.
struct ArgReduceArgs {
  const void* x;
  void* index;
  int64_t outer, axis, inner;
  int index_bytes;
  int threads;
};

struct ReduceRoutines {
  // Integers wrap; of booleans max is any and min is all.
  ByDType<void (*)(const ReduceArgs&)> sum, prod, max, min;

  static const ReduceRoutines v2, v3, v4, portable;
};

struct ArgReduceRoutines {
  ByDType<void (*)(const ArgReduceArgs&)> argmax, argmin;

  static const ArgReduceRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

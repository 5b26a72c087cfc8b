#pragma once

#include <cstdint>

#include "keratin/backend/cpu/kernels/by_dtype.h"
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
  if (outer * ((inner + 255) / 256) >= max_fixed_parts) return {axis, 1};
  return fixed_split(axis, 16384 / (inner + 1) + 64);
}
inline int64_t reduce_scratch(int64_t outer, int64_t axis, int64_t inner) {
  const int64_t parts = reduce_split(outer, axis, inner).parts;
  return parts > 1 ? outer * parts * inner * 8 : 0;
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

struct ReduceKernels {
  // Integers wrap; of booleans max is any and min is all.
  ByDType<void (*)(const ReduceArgs&)> sum, prod, max, min;
  ByDType<void (*)(const ArgReduceArgs&)> argmax, argmin;
};

}  // namespace keratin::cpu

#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// Indices are i32 or i64 (index_bytes 4 or 8); -axis ... -1 count from the end. Every routine of
// this family checks them first and, when one is outside, writes nothing and returns its position;
// else -1.

// y[o, j, i] = x[o, index[j], i] for j in [0, count)
struct GatherArgs {
  const void* x;
  const void* index;
  void* y;
  int64_t outer, axis, inner, count;
  int element_bytes;
  int index_bytes;
  int threads;
};

// y[o, index[j], i] += x[o, j, i], for equal indices in the order of j.
struct ScatterAddArgs {
  const void* x;
  const void* index;
  void* y;
  int64_t outer, axis, inner, count;
  int index_bytes;
  int threads;
};

// The same with an index of the shape of the smaller tensor, [outer, count, inner].
using GatherAlongArgs = GatherArgs;
using ScatterAddAlongArgs = ScatterAddArgs;

struct GatherRoutines {
  int64_t (*gather)(const GatherArgs&);
  int64_t (*gather_along)(const GatherAlongArgs&);
  ByDType<int64_t (*)(const ScatterAddArgs&)> scatter_add;
  ByDType<int64_t (*)(const ScatterAddAlongArgs&)> scatter_add_along;

  static const GatherRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// A matrix of storage type T, either of whose steps is 1, and a copy of it in the type arithmetic
// is done in (f64 for f64, else f32). Steps count elements.
struct PackArgs {
  const void* from;
  void* to;
  int64_t rows, columns;
  int64_t row_step, column_step;  // of the matrix
  int64_t width;                  // from row to row of the copy
  int64_t filled;                 // columns of the copy; zeros follow those of the matrix
};

// The inverse, without transposition or zeros: `width` elements from row to row of the source.
struct UnpackArgs {
  const void* from;
  void* to;
  int64_t rows, columns;
  int64_t width;
  int64_t row_step;  // of the matrix
};

struct PackRoutines {
  ByDType<void (*)(const PackArgs&)> pack;
  ByDType<void (*)(const UnpackArgs&)> unpack;

  static const PackRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

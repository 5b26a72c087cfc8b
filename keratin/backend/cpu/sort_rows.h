#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// Sorts each row of [rows, cols], equal elements in the order in which they came, NaN last in both
// orders. `values` (storage type) and `index` (i32 or i64) may be null. With keep < cols only the
// first `keep` of each row are found and written: the rows of the results have that many elements.
struct SortArgs {
  const void* x;
  void* values;
  void* index;
  int64_t rows, cols, keep;
  bool descending;
  int index_bytes;
  void* scratch;  // sort_scratch bytes
  int threads;
};

inline int64_t sort_scratch(int64_t cols, int threads) { return cols * 16 * threads; }

// The routine that sorts elements of a dtype. It compares and moves numbers one by one, so wider
// registers do not help: it is compiled once.
using SortRoutine = void (*)(const SortArgs&);
SortRoutine sort_rows(DType dtype);

}  // namespace keratin::cpu

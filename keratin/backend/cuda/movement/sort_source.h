#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// A stable radix sort by kernels/sort.cu; its result is in the node's scratch memory.
struct RadixSort {
  int64_t items = 0;       // of one line, fewer than 2^31
  int64_t lines = 1;       // sorted independently
  int bits = 32;           // of a key
  bool wide = false;       // keys are uint64_t, not unsigned
  std::string key;         // expression: the key of item i of line `line`
  std::string keys = {};   // once written, expressions: the sorted keys,
  std::string order = {};  // and the position that each had before

  static constexpr int64_t max_items = int64_t{1} << 31;

  // Adds functions, launches and scratch memory.
  void write(const Node& node, Source& source);
};

}  // namespace keratin::cuda

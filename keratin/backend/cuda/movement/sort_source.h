#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// A stable sort, by the kernels of kernels/sort.cu; what it leaves lies in the node's scratch
// memory.
struct SortText {
  int64_t items = 0;       // of one line, fewer than 2^31
  int64_t lines = 1;       // sorted side by side
  int bits = 32;           // of a key
  bool wide = false;       // keys are uint64_t, not unsigned
  std::string key;         // the key of item i of line `line`, as the node has it
  std::string keys = {};   // when written: expressions for the first sorted key, and for the item
  std::string order = {};  // that stood there

  static constexpr int64_t most_items = int64_t{1} << 31;

  // Adds functions, passes and scratch memory.
  void write(const Node& node, Source& source);
};

}  // namespace keratin::cuda

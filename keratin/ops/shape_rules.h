#pragma once

#include "keratin/ir/node.h"

// Shared by the shape rules of ops.
namespace keratin::ops {

inline bool sizes_agree(int64_t a, int64_t b) { return a == b || a == unknown || b == unknown; }

// Entry i of a list of options, or the fallback where the list is left out.
inline int64_t entry_or(const Dims& list, size_t i, int64_t fallback) {
  return list.empty() ? fallback : list[i];
}

// One output of the first input's dtype; a shape whose size overflows is refused.
inline Types like_input(const Node& n, const Shape& shape) {
  if (shape.known()) shape.count();
  return {{n.in().dtype(), shape}};
}

}  // namespace keratin::ops

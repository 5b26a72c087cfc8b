#pragma once

#include "keratin/backend/cuda/source.h"
#include "keratin/base/text.h"
#include "keratin/ops/movement.h"

namespace keratin::cuda {

// The tensor that a gather or scatter indexes, as [outer, size, inner] around the axis. There are
// `count` indices; where `along`, `count` for each outer and inner position.
struct IndexLayout {
  int64_t outer, size, inner, count;

  IndexLayout(int64_t outer_, int64_t size_, int64_t inner_, int64_t count_)
      : outer(outer_), size(size_), inner(inner_), count(count_) {}
  IndexLayout(const Node& node, bool along) {
    const int64_t axis = node.attr<ops::AxisAttrs>().axis;
    const Shape &x = node.in(0).shape(), &indices = node.in(1).shape();
    outer = x.count(0, axis);
    size = x[axis];
    inner = x.count(axis + 1, x.rank());
    count = along ? indices[axis] : indices.count();
  }
};

// A divisor in source code, never 0.
inline std::string divisor(int64_t value) {
  return text("Index(", std::max<int64_t>(value, 1), ")");
}

}  // namespace keratin::cuda

#pragma once

#include "keratin/backend/cuda/source.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

// A box as [outer, size, inner] around one axis, along which a kernel walks.
struct Line {
  int64_t outer, size, inner;
  Line(const Shape& shape, int64_t axis)
      : outer(shape.count(0, axis)),
        size(shape[axis]),
        inner(shape.count(axis + 1, shape.rank())) {}
  // Element `k` of line i.
  std::string at(const std::string& k) const {
    const int64_t step = std::max<int64_t>(inner, 1);
    return text("(i / Index(", step, ") * Index(", size, ") + ", k, ") * Index(", step,
                ") + i % Index(", step, ")");
  }
};

}  // namespace keratin::cuda

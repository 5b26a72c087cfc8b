#pragma once

#include "keratin/backend/cuda/source.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

// A box as [outer, size, inner] around one axis, along which a kernel walks; see kernels/lines.cu.
struct Line {
  int64_t outer, size, inner;
  Line(const Shape& shape, int64_t axis)
      : outer(shape.count(0, axis)),
        size(shape[axis]),
        inner(shape.count(axis + 1, shape.rank())) {}

  // Includes kernels/lines.cu and defines its `layout`.
  std::string define() const {
    return text(include_of("lines.cu"), "constexpr lines::Layout layout = {", size, ", ", inner,
                "};\n");
  }
};

}  // namespace keratin::cuda

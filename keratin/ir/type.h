#pragma once

#include <ostream>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/device.h"
#include "keratin/tensor/dtype.h"
#include "keratin/tensor/shape.h"

namespace keratin {

// The dtype, shape and device of a value: f32[?,784], i64[3]@gpu:0.
struct Type {
  DType dtype = DType::f32;
  Shape shape;
  Device device = {};

  bool operator==(const Type&) const = default;
};

using Types = std::vector<Type>;

// The size of all elements in bytes; all sizes must be known.
inline size_t bytes_of(const Type& type) {
  return static_cast<size_t>(type.shape.count()) * size_of(type.dtype);
}

KERATIN_API std::ostream& operator<<(std::ostream& out, const Type& type);

}  // namespace keratin

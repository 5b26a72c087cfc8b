#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"
#include "keratin/tensor/tensor.h"

namespace keratin::ops {

struct KERATIN_API ConstantAttrs {
  Tensor value;
  static constexpr auto fields = field_list(field("value", &ConstantAttrs::value));
};

// Data that is part of a program.
KERATIN_API Value constant(Block& block, Tensor value);
// A tensor of equal elements: a scalar constant, broadcast.
KERATIN_API Value full(Block& block, DType dtype, const Shape& shape, double value);
KERATIN_API Value full_like(Value like, double value);  // the shape of `like` must be known
inline Value zeros_like(Value like) { return full_like(like, 0); }

// The tensor if the value is a constant, else nothing.
KERATIN_API const Tensor* constant_value(Value value);
// The number if all elements of the value are one constant (broadcast or not).
KERATIN_API std::optional<double> uniform_value(Value value);

struct KERATIN_API IotaAttrs {
  DType dtype = DType::i64;
  Dims shape;
  int64_t axis = 0;
  static constexpr auto fields =
      field_list(field("dtype", &IotaAttrs::dtype), field("shape", &IotaAttrs::shape),
                 field("axis", &IotaAttrs::axis));
};
// Counts 0, 1, 2, … along one axis of the shape.
KERATIN_API Value iota(Block& block, DType dtype, const Shape& shape, int64_t axis);

}  // namespace keratin::ops

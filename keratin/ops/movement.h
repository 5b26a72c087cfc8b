#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Ops that move elements without changing them.
namespace keratin::ops {

struct KERATIN_API ReshapeAttrs {
  Dims shape;
  static constexpr auto fields = field_list(field("shape", &ReshapeAttrs::shape));
};
struct KERATIN_API TransposeAttrs {
  Dims permutation;
  static constexpr auto fields = field_list(field("permutation", &TransposeAttrs::permutation));
};
struct KERATIN_API BroadcastAttrs {
  Dims shape;
  static constexpr auto fields = field_list(field("shape", &BroadcastAttrs::shape));
};

struct KERATIN_API AxisAttrs {
  int64_t axis = 0;
  static constexpr auto fields = field_list(field("axis", &AxisAttrs::axis));
};

inline constexpr int64_t infer_size = -1;  // in reshape: the remaining size
inline constexpr int64_t keep_size = -2;   // in reshape: the size of the input's axis here

// The same elements under another shape; one size may be infer_size, any may be keep_size.
KERATIN_API Value reshape(Value x, const Dims& shape);
// out[i_p0, i_p1, …] = x[i_0, i_1, …] with p the permutation.
KERATIN_API Value transpose(Value x, const Dims& permutation);
// Repeats x along new axes in front and along axes of size 1; -1 keeps the size of x.
KERATIN_API Value broadcast_to(Value x, const Dims& shape);

KERATIN_API Value expand_dims(Value x, int64_t axis);
KERATIN_API Value squeeze(Value x, int64_t axis);

}  // namespace keratin::ops

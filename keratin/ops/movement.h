#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

// Ops that move elements without changing them.
namespace keratin::ops {

struct ReshapeAttrs {
  Dims shape;
  static constexpr auto fields = field_list(field("shape", &ReshapeAttrs::shape));
};
struct TransposeAttrs {
  Dims permutation;
  static constexpr auto fields = field_list(field("permutation", &TransposeAttrs::permutation));
};
struct BroadcastAttrs {
  Dims shape;
  static constexpr auto fields = field_list(field("shape", &BroadcastAttrs::shape));
};

struct AxisAttrs {
  int64_t axis = 0;
  static constexpr auto fields = field_list(field("axis", &AxisAttrs::axis));
};

inline constexpr int64_t infer_size = -1;  // in reshape: what is left
inline constexpr int64_t keep_size = -2;   // in reshape: the size of the input's axis here

// The same elements under another shape; one size may be infer_size, any may be keep_size.
Value reshape(Value x, const Dims& shape);
// out[i_p0, i_p1, …] = x[i_0, i_1, …] with p the permutation.
Value transpose(Value x, const Dims& permutation);
// Repeats x along new axes in front and along axes of size 1; -1 keeps the size of x.
Value broadcast_to(Value x, const Dims& shape);

Value expand_dims(Value x, int64_t axis);
Value squeeze(Value x, int64_t axis);

}  // namespace keratin::ops

#pragma GCC visibility pop

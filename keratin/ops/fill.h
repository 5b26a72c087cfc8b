#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

struct FillAttrs {
  DType dtype = DType::f32;
  double value = 0;
  static constexpr auto fields =
      field_list(field("dtype", &FillAttrs::dtype), field("value", &FillAttrs::value));
};

// One value everywhere, in the shape that `like` has once it is known.
Value fill_like(Value like, double value, DType dtype);

}  // namespace keratin::ops

#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

struct FillAttrs {
  DType dtype = DType::f32;
  double value = 0;
  static constexpr auto fields =
      field_list(field("dtype", &FillAttrs::dtype), field("value", &FillAttrs::value));
};

// A tensor of equal elements in the shape of `like`, which may be unknown until the program runs.
Value fill_like(Value like, double value, DType dtype);

}  // namespace keratin::ops

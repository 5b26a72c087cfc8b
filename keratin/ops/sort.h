#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Ordering along an axis. Sorts are stable (equal elements stay in the order they came in, whatever
// the direction), and NaN comes last either way.
namespace keratin::ops {

struct KERATIN_API SortAttrs {
  int64_t axis = 0;
  bool descending = false;
  static constexpr auto fields =
      field_list(field("axis", &SortAttrs::axis), field("descending", &SortAttrs::descending));
};
struct KERATIN_API TopKAttrs {
  int64_t k = 1;
  static constexpr auto fields = field_list(field("k", &TopKAttrs::k));
};

KERATIN_API Value sort(Value x, SortAttrs attrs);
// The positions of the sorted elements in x: sort(x) = take_along_axis(x, argsort(x)). i64.
KERATIN_API Value argsort(Value x, SortAttrs attrs);

struct TopK {
  Value values;
  Value indices;  // i32, as in Keras
};
// The k largest elements of the last axis, largest first, and their positions.
KERATIN_API TopK top_k(Value x, int64_t k);

}  // namespace keratin::ops

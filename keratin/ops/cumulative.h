#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Cumulative sums and products. Exclusive leaves out the element itself; reverse runs from the end.
namespace keratin::ops {

struct KERATIN_API CumulativeAttrs {
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
  static constexpr auto fields = field_list(field("axis", &CumulativeAttrs::axis),
                                            field("exclusive", &CumulativeAttrs::exclusive),
                                            field("reverse", &CumulativeAttrs::reverse));
};

// out[k] = Σ_{j ≤ k} x[j] along the axis; integers wrap
KERATIN_API Value cumsum(Value x, CumulativeAttrs attrs);
// out[k] = Π_{j ≤ k} x[j] along the axis
KERATIN_API Value cumprod(Value x, CumulativeAttrs attrs);

}  // namespace keratin::ops

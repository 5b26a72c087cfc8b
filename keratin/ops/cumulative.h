#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

// Running totals along an axis. Exclusive leaves out the element itself; reverse runs from the end.
namespace keratin::ops {

struct CumulativeAttrs {
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
  static constexpr auto fields = field_list(field("axis", &CumulativeAttrs::axis),
                                            field("exclusive", &CumulativeAttrs::exclusive),
                                            field("reverse", &CumulativeAttrs::reverse));
};

// out[k] = Σ_{j ≤ k} x[j] along the axis; integers wrap
Value cumsum(Value x, CumulativeAttrs attrs);
// out[k] = Π_{j ≤ k} x[j] along the axis
Value cumprod(Value x, CumulativeAttrs attrs);

}  // namespace keratin::ops

#pragma GCC visibility pop

#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

namespace keratin::ops {

// 0, 1, 2, … as i32, as many as x is long along an axis once that is known.
Value positions(Value x, int64_t axis);

}  // namespace keratin::ops

#pragma GCC visibility pop

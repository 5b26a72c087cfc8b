#pragma once

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

// 0, 1, 2, … as i32, as many as x is long along an axis once that is known.
KERATIN_API Value positions(Value x, int64_t axis);

}  // namespace keratin::ops

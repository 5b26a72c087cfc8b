#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

// x with a value instead of NaN; integers have none.
Value with_nan_replaced(Value x, double value);

}  // namespace keratin::ops

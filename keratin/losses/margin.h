#pragma once

#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

// max(x, 0), for losses with a margin.
inline Value not_negative(Value x) { return ops::maximum(x, ops::scalar_like(x, 0)); }

}  // namespace keratin

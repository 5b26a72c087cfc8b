#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// One pass over memory: pointwise ops, broadcasts and the reductions that end them. For `fused`
// loops and for single ops.
Source write_loop(const Node& node);

}  // namespace keratin::cuda

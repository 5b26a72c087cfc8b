#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Gathers pointwise ops, broadcasts and the reductions that end them into `fused` loops: one pass
// over memory instead of one per op. A loop's values all have one shape; it ends where something
// else uses one of them. A reduction joins the loop of its input when it runs over all axes, the
// leading or the trailing ones; a loop has reductions of one of these kinds.
Module fuse_pointwise(Module module);

}  // namespace keratin

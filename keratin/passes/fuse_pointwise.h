#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Fuses pointwise ops, broadcasts and the reductions of their results into loops: one pass over
// memory instead of one per op. All values of a loop have one shape; no op joins a loop after
// another node has used one of its values. A reduction joins the loop of its input if it is over
// all axes, the leading ones or the trailing ones; a loop has reductions of one of these kinds.
Module fuse_pointwise(Module module);

}  // namespace keratin

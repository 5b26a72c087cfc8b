#pragma once

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

// Replaces nodes that no backend claims by their decompositions, until only claimed nodes and
// primitives are left. The planner reports a primitive that no backend claims.
Module decompose_unclaimed(Module module, const std::function<bool(const Node&)>& claimed);

}  // namespace keratin

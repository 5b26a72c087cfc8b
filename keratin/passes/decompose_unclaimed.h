#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Replaces nodes that no backend runs by their decompositions, until only claimed ones and
// primitives are left. A primitive that nobody claims is the planner's to report.
Module decompose_unclaimed(Module module, const std::function<bool(const Node&)>& claimed);

}  // namespace keratin

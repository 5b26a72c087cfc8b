#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Removes results of loops and branches that have no use, the states that only these needed, and
// the inputs that are then unused. A state that never changes becomes a constant. Removes dead
// nodes around them, too.
Module prune_loops(Module module);

}  // namespace keratin

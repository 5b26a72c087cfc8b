#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Takes out of loops and branches the results that nobody uses, the states that only those needed,
// and the inputs left without a use; a state that never changes becomes a constant. What is dead
// around them goes too.
Module prune_loops(Module module);

}  // namespace keratin

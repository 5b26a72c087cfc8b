#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Moves the pointwise chains that compute new state (the optimizer's) to the point where their
// inputs are available, so that gradients are short-lived and share memory. A chain waits for all
// nodes that still read the state which it overwrites.
Module schedule_updates(Module module);

}  // namespace keratin

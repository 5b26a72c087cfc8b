#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Runs what makes new state (the optimizer's pointwise chains) as soon as its inputs are there, so
// that each gradient dies early and its memory serves the next one. A state is never overwritten
// in front of the nodes that still read it: its chain waits for them.
Module schedule_updates(Module module);

}  // namespace keratin

#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Orders the nodes of a program on several devices so that none waits for another while it has
// work: plays the program through with estimated times, and lets each device do next what comes
// first in the order there was, of that which is ready by then. A program on one device stays as it
// is.
Module overlap_devices(Module module);

}  // namespace keratin

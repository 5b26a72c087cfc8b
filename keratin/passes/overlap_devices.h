#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Orders the nodes of a program on several devices so that no device waits while it has work: list
// scheduling with estimated times. Of the nodes that are ready, a device runs the one that comes
// first in the old order. A program on one device is not changed.
Module overlap_devices(Module module);

}  // namespace keratin

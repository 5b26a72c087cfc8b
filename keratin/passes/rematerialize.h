#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Rematerialisation between GPU loops, whose cost is memory traffic: a loop computes a value of
// another loop again if that takes no more reads than loading it. So the gradient of an activation
// reads the activation's input, not the intermediate values. Values that are no longer read are not
// stored.
Module rematerialize(Module module);

}  // namespace keratin

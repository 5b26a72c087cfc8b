#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// On a GPU reading and writing is what a loop costs. Where a loop reads what another loop made, and
// could make it itself from no more than that, it does: the gradient of an activation needs the
// activation's input, not what was on the way to its result. What nobody reads any more is not
// written.
Module recompute(Module module);

}  // namespace keratin

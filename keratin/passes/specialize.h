#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// The program for inputs of these types, one per parameter: where a size was unknown there is now
// a number, here and in all that follows from it. UserError when an input does not fit, which
// names it, or when an op refuses the sizes.
Module specialize(const Module& module, const Types& inputs);

}  // namespace keratin

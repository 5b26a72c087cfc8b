#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// The program for inputs of these types, one per parameter: sizes that were unknown are replaced,
// in the inputs and in everything computed from them. A UserError names an input that does not fit,
// or the op that refuses the sizes.
Module specialize(const Module& module, const Types& inputs);

}  // namespace keratin

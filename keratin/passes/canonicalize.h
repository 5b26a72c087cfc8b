#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Brings equal programs into equal forms, so that later passes have less to look for:
//   - of a commutative op's inputs a constant is the second;
//   - shapes in attributes are the results' own; expand_dims and squeeze are reshapes;
//   - what changes nothing is gone: reshape, transpose, broadcast_to and cast to what the input
//     already is, stop_gradient (gradients have been taken);
//   - of several such in a row one is left, of casts only where the first loses nothing.
// Results keep their bits, but for the sign of a zero that maximum and minimum choose.
Module canonicalize(Module module);

}  // namespace keratin

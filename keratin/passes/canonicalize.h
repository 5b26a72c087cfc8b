#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Brings equal programs into one form, so that later passes have fewer cases:
//   - a constant is the second input of a commutative op;
//   - shapes in attributes are those of the results; expand_dims and squeeze become reshapes;
//   - ops without an effect are removed: reshape, transpose, broadcast_to and cast to the shape or
//     dtype of the input, and stop_gradient, since gradients have been taken;
//   - several of these in a row become one; casts only if the first keeps every number.
// Results keep their bits, except for the sign of a zero that maximum and minimum choose.
Module canonicalize(Module module);

}  // namespace keratin

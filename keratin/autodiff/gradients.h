#pragma once

#include "keratin/base/export.h"
#include "keratin/ir/module.h"

namespace keratin {

// Reverse-mode differentiation: appends to the block of `y` what computes d(y)/d(each of wrt) and
// returns those values, each of the type of its `wrt` (zeros where y does not depend on it). `y`
// is a float of any shape; `dy` is its own gradient, ones when undefined. Gradients are ordinary
// ops, so they can be differentiated again. All sizes must be known.
KERATIN_API Values gradients(Value y, const Values& wrt, Value dy = {});

// Several outputs at once, each with its gradient (undefined: none). Where nothing flows to an
// input the result is undefined.
KERATIN_API Values pull_back(Block& block, const Values& outputs, const Values& dy,
                             const Values& wrt);

}  // namespace keratin

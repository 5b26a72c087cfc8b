#pragma once

#include "keratin/ir/module.h"

#pragma GCC visibility push(default)

namespace keratin {

// Reverse-mode differentiation: appends to the block of `y` what computes d(y)/d(each of wrt) and
// returns those values, each of the type of its `wrt` (zeros where y does not depend on it). `y`
// is a float of any shape; `dy` is its own gradient, ones when undefined. Gradients are ordinary
// ops, so they can be differentiated again. All sizes must be known.
Values gradients(Value y, const Values& wrt, Value dy = {});

// Several outputs at once, each with its gradient (undefined: none). Where nothing flows to an
// input the result is undefined.
Values pull_back(Block& block, const Values& outputs, const Values& dy, const Values& wrt);

}  // namespace keratin

#pragma GCC visibility pop

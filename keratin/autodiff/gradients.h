#pragma once

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

namespace keratin {

// Reverse-mode differentiation: appends the computation of d(y)/d(each of wrt) to the block of `y`
// and returns these values, each of the type of its `wrt` (zeros if y does not depend on it). `y`
// is a float value of any shape; `dy` is its gradient, ones if undefined. Gradients are ordinary
// ops and can be differentiated again. All sizes must be known.
KERATIN_API Values gradients(Value y, const Values& wrt, Value dy = {});

namespace detail {

// Several outputs at once, each with its gradient (undefined: none). The result is undefined for an
// input without a gradient.
KERATIN_API Values pull_back(Block& block, const Values& outputs, const Values& dy,
                             const Values& wrt);

}  // namespace detail
}  // namespace keratin

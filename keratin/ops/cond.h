#pragma once

#include <functional>

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

using Body = std::function<Values(const Values& inputs)>;

// condition ? then(inputs) : otherwise(inputs), of which only one is computed. The condition is one
// bool; both branches return values of the same types. A branch may use any value of the program
// around it, but nodes that depend on those alone are computed in any case: pass the values that a
// branch computes with as inputs.
KERATIN_API Values cond(Value condition, const Values& inputs, const Body& then,
                        const Body& otherwise);

}  // namespace keratin::ops

#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Common subexpression elimination: of nodes with the same op and equal attributes, inputs and
// regions, the first one is kept. The inputs of a commutative op may be in either order.
Module eliminate_common(Module module);

}  // namespace keratin

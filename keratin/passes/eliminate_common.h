#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Computes equal things once: of nodes with one op, equal attributes, inputs and regions the first
// stays. The inputs of a commutative op may stand in either order.
Module eliminate_common(Module module);

}  // namespace keratin

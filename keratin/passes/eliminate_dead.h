#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Removes nodes whose outputs have no use, also in regions.
Module eliminate_dead(Module module);

}  // namespace keratin

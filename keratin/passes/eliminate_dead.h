#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Removes nodes whose outputs nobody uses, in regions too.
Module eliminate_dead(Module module);

}  // namespace keratin

#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Gives every pointwise op and reduction a cast of its own where several read one value widened
// (bf16 to f32, say): whatever loops they end up in, each reads the narrow value from memory.
Module widen_late(Module module);

}  // namespace keratin

#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Copies a widening cast (bf16 to f32, say) to each pointwise op and sum that reads it, so that
// every loop that these end up in reads the narrow value from memory.
Module sink_casts(Module module);

}  // namespace keratin

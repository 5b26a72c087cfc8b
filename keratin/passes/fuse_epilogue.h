#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Fuses a matmul or a convolution with the pointwise ops that follow it: bias, activation,
// residual, or the mask of an activation's gradient. They become one `fused` node of kind
// "epilogue" with one matmul or convolution, its anchor, and one result of the anchor's type. The
// other operands of the pointwise ops are scalars, have one value per column, or are as large as
// the anchor's result.
//
// A matmul is also fused with transposes of its inputs, and with a transpose that is its only user,
// if rows or columns stay contiguous in memory: it then reads and writes with other strides.
//
// With `side_by_side`, when devices run at the same time, a value that another device sends is not
// fused: the anchor would wait for it.
Module fuse_epilogue(Module module, bool side_by_side = true);

}  // namespace keratin

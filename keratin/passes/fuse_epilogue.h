#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Lets a matmul or a convolution take along the pointwise ops that follow it: bias, activation,
// residual, or the mask of an activation's gradient. They become one `fused` node of kind
// "epilogue" with one product and one result, of the product's type; what the ops read besides is a
// scalar, one value per column, or as large as the product.
//
// A matmul also takes along the transposes of what it reads, and a transpose that alone uses it,
// where each row or column stays together in memory: it reads and writes with other steps instead.
//
// Where devices run side by side, what another device sends is no part of it: the product would
// wait for it.
Module fuse_epilogue(Module module, bool side_by_side = true);

}  // namespace keratin

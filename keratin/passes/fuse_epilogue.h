#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Lets a matmul or a convolution take along the pointwise ops that follow it: bias, activation,
// residual, or the mask of an activation's gradient. They become one `fused` node of kind
// "epilogue" with one product and one result, of the product's type; what the ops read besides is a
// scalar, one value per column, or as large as the product.
Module fuse_epilogue(Module module);

}  // namespace keratin

#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Moves a reshape or a transpose of a product (a matmul or convolution) past the pointwise ops that
// follow, where nothing else uses what lies between: f(reshape(product), b) = reshape(f(product,
// b')). The ops can then be done while the product is made; see fuse_epilogue.
Module sink_views(Module module);

}  // namespace keratin

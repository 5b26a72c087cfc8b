#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Makes zeros that are padded around the spatial axes of a convolution's input part of the
// convolution's own padding, which costs no copy. What others read too is left alone. The result
// has the same bits, unless the filter has infinities or NaNs: these are not multiplied by zeros.
Module fold_padding(Module module);

}  // namespace keratin

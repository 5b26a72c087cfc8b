#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Moves a reshape or a transpose of the result y of a matmul or convolution past the pointwise ops
// that follow, if the values between have no other user: f(reshape(y), b) = reshape(f(y, b')). The
// ops can then become its epilogue; see fuse_epilogue.
Module sink_views(Module module);

}  // namespace keratin

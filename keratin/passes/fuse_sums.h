#pragma once

#include <functional>

#include "keratin/ir/module.h"

namespace keratin {

// Lets a matmul, alone or with its epilogue, make a sum that would have to read from memory what
// the matmul has in its hands: the rows of a factor whose rows it adds up anyway (a bias's gradient
// beside the kernel's), or those of its own result. Both become one `fused` node of kind "summed",
// whose results are the product and the sum, but only where `claimed` says that the node is run as
// it is: what is refused stays as it was.
//
// After loops are fused: a sum that is part of one costs nothing there.
Module fuse_sums(Module module, const std::function<bool(const Node&)>& claimed);

}  // namespace keratin

#pragma once

#include <functional>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

// Fuses a matmul, alone or with its epilogue, with a sum over operands the matmul already loads:
// the rows of an input that it contracts over rows (the gradient of a bias beside that of the
// kernel), or the rows of its own result. Both become one `fused` node of kind "summed", whose
// results are those of the matmul and the sum. Only pairs for which `claimed` is true are fused: a
// backend must run the node as a whole.
//
// Runs after fuse_pointwise, since a sum in a loop costs nothing there.
Module fuse_sums(Module module, const std::function<bool(const Node&)>& claimed);

}  // namespace keratin

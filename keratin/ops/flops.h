#pragma once

#include "keratin/ir/node.h"

namespace keratin {

// Arithmetic of a node: 2·m·n·k for a matmul, one per element of a pointwise op, and that of all
// the nodes in its regions.
double flops(const Node& node);
double flops(const Block& block);

}  // namespace keratin

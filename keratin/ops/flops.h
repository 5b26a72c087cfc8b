#pragma once

#include "keratin/ir/node.h"

namespace keratin {

// The arithmetic operations of a node: 2·m·n·k for a matmul, one per element of a pointwise op, and
// those of all nodes in its regions.
double flops(const Node& node);
double flops(const Block& block);

}  // namespace keratin

#pragma once

#include "keratin/ir/node.h"

namespace keratin {

// Whether the node is a slice of consecutive rows, which are contiguous in its input.
bool takes_rows(const Node& node);
// Where a node's output begins in its input, in bytes; 0 for a node that is no slice.
size_t first_byte(const Node& node);

}  // namespace keratin

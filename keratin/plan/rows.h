#pragma once

#include "keratin/ir/node.h"

namespace keratin {

// Is the node a slice of rows, one after the other, which lie together in its input?
bool takes_rows(const Node& node);
// Where what a node gives begins in its input; 0 for what is no slice.
size_t first_byte(const Node& node);

}  // namespace keratin

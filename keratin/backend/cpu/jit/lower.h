#pragma once

#include <optional>
#include <string>

#include "keratin/backend/cpu/jit/loop_program.h"
#include "keratin/ir/node.h"

namespace keratin::cpu {

// The loop that computes a node: a fused region, or one op alone. Inputs and outputs of the program
// are the node's. Returns nothing, and the reason, if the node cannot be one loop.
std::optional<LoopProgram> lower_to_loop(const Node& node, std::string& reason);

}  // namespace keratin::cpu

#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

// The kind of a fused region, for backends.
struct FusedAttrs {
  // "loop": pointwise and reductions; "epilogue": matmul or conv with pointwise ops; "summed": a
  // matmul with its epilogue, and the sum of the rows of its result or of an operand.
  std::string kind = "loop";
  static constexpr auto fields = field_list(field("kind", &FusedAttrs::kind));
};

// Several ops run as one kernel: the region's parameters are the inputs, its results the outputs.
Node& fused(Block& block, const Values& inputs, std::unique_ptr<Block> region,
            const std::string& kind);

}  // namespace keratin::ops

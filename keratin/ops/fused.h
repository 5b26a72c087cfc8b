#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

// What a fused region is led by; the kind tells a backend where to look first.
struct FusedAttrs {
  // "loop": pointwise and reductions; "epilogue": led by matmul or conv; "summed": an epilogue of a
  // matmul, and the sum of the rows of its result or of a factor.
  std::string kind = "loop";
  static constexpr auto fields = field_list(field("kind", &FusedAttrs::kind));
};

// Several ops run as one kernel: the region's parameters are the inputs, its results the outputs.
Node& fused(Block& block, const Values& inputs, std::unique_ptr<Block> region,
            const std::string& kind);

}  // namespace keratin::ops

#include "keratin/ops/emit.h"

#include <algorithm>

namespace keratin::ops {

Node& emit_node(const OpDef& op, const Values& inputs, Attrs attrs,
                std::vector<std::unique_ptr<Block>> regions) {
  require(!inputs.empty(), op.name, ": needs at least one input");
  for (const Value& input : inputs)
    require(input.defined(), op.name, ": an input is an undefined value");
  const Value innermost = *std::max_element(
      inputs.begin(), inputs.end(),
      [](const Value& a, const Value& b) { return a.block().depth() < b.block().depth(); });
  return innermost.block().append(op, inputs, std::move(attrs), std::move(regions));
}

}  // namespace keratin::ops

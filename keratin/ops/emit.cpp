#include "keratin/ops/emit.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/ops/shards.h"

namespace keratin::ops {
namespace {

Block& block_of(const OpDef& op, const Values& inputs) {
  require(!inputs.empty(), op.name, ": needs at least one input");
  for (const Value& input : inputs)
    require(input.defined(), op.name, ": an input is an undefined value");
  const Value innermost = *std::max_element(
      inputs.begin(), inputs.end(),
      [](const Value& a, const Value& b) { return a.block().depth() < b.block().depth(); });
  return innermost.block();
}

// True unless the op is one that distributed values consist of.
bool any_distributed(const OpDef& op, const Values& inputs) {
  return &op != &concat_op && &op != &mirrored_op &&
         std::any_of(inputs.begin(), inputs.end(), is_distributed);
}

}  // namespace

// An op with distributed inputs is emitted once per shard or copy if that is possible, or else once
// on the gathered inputs.
Node& emit_node(const OpDef& op, const Values& inputs, Attrs attrs,
                std::vector<std::unique_ptr<Block>> regions) {
  Block& block = block_of(op, inputs);
  if (!any_distributed(op, inputs))
    return block.append(op, inputs, std::move(attrs), std::move(regions));
  if (block.depth() == 0 && regions.empty())
    if (const Value result = emit_distributed(op, inputs, attrs);
        result.defined() && result.index() == 0)
      return result.node();
  Values whole;
  for (const Value& input : inputs)
    whole.push_back(is_distributed(input) ? whole_on(input, input.type().device) : input);
  return block.append(op, whole, std::move(attrs), std::move(regions));
}

}  // namespace keratin::ops

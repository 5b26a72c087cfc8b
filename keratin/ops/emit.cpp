#include "keratin/ops/emit.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/parts.h"
#include "keratin/ops/records.h"

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

// These are what values on several devices are made with.
bool any_on_several(const OpDef& op, const Values& inputs) {
  return &op != &concat_op && &op != &mirrored_op &&
         std::any_of(inputs.begin(), inputs.end(), on_several_devices);
}

}  // namespace

// An op on parts is done in parts if it can be, or else on the whole, put together first.
Node& emit_node(const OpDef& op, const Values& inputs, Attrs attrs,
                std::vector<std::unique_ptr<Block>> regions) {
  Block& block = block_of(op, inputs);
  if (!any_on_several(op, inputs))
    return block.append(op, inputs, std::move(attrs), std::move(regions));
  if (block.depth() == 0 && regions.empty())
    if (const Value made = on_parts(op, inputs, attrs); made.defined() && made.index() == 0)
      return made.node();
  Values whole;
  for (const Value& input : inputs)
    whole.push_back(on_several_devices(input) ? whole_on(input, input.type().device) : input);
  return block.append(op, whole, std::move(attrs), std::move(regions));
}

}  // namespace keratin::ops

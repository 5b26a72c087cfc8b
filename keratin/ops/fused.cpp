#include "keratin/ops/fused.h"

#include "keratin/base/text.h"
#include "keratin/ops/records.h"

namespace keratin::ops {

// outputs = region(inputs)
const OpDef fused_op{
    .name = "fused",
    .attrs = attrs_type<FusedAttrs>(),
    .regions = 1,
    .infer = [](const Node& n) -> Types {
      const auto& parameters = n.region().parameters();
      require(parameters.size() == n.input_count(), "fused: the region takes ", parameters.size(),
              " values, got ", n.input_count());
      for (size_t i = 0; i < parameters.size(); ++i)
        require(parameters[i]->type().dtype == n.in(i).dtype() &&
                    parameters[i]->type().shape == n.in(i).shape(),
                "fused: parameter ", i, " is ", parameters[i]->type(), ", its input is ",
                n.in(i).type());
      Types types;
      for (const Value& result : n.region().results) types.push_back(result.type());
      return types;
    },
    .decompose = [](const Node& n) { return inline_block(n.region(), n.block(), n.inputs()); },
};

Node& fused(Block& block, const Values& inputs, std::unique_ptr<Block> region,
            const std::string& kind) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  return block.append(fused_op, inputs, FusedAttrs{kind}, std::move(regions));
}

}  // namespace keratin::ops

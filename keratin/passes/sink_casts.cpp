#include "keratin/passes/sink_casts.h"

#include <unordered_map>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/rules.h"

namespace keratin {

namespace {

using UseCounts = std::unordered_map<const Node*, int>;

void count_all_uses(const Block& block, UseCounts& uses) {
  for (const auto& node : block.nodes()) {
    for (const Value& input : node->inputs()) ++uses[&input.node()];
    for (const auto& region : node->regions()) count_all_uses(*region, uses);
  }
}

bool widens(Value value) {
  if (!is(value, ScalarOp::cast)) return false;
  const DType from = value.node().in().dtype();
  return is_float(from) && is_float(value.dtype()) && size_of(from) < size_of(value.dtype());
}

bool joins_loops(const Node& node) { return node.op().scalar || is(node.out(), ops::sum_op); }

}  // namespace

Module sink_casts(Module module) {
  UseCounts uses;
  count_all_uses(module.block(), uses);
  return rewrite(std::move(module), [&](const Node& node) -> std::optional<Values> {
    if (node.output_count() != 1 || !joins_loops(node)) return std::nullopt;
    Values inputs;
    for (const Value& input : node.inputs())
      inputs.push_back(widens(input) && uses[&input.node()] > 1
                           ? ops::emit(ScalarOp::cast, {input.node().in()}, input.node().attrs())
                           : input);
    if (inputs == node.inputs()) return std::nullopt;
    return Values{ops::emit(node.op(), inputs, node.attrs())};
  });
}

}  // namespace keratin

#include "keratin/passes/widen_late.h"

#include <unordered_map>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/rules.h"

namespace keratin {

namespace {

using Uses = std::unordered_map<const Node*, int>;

void count_uses(const Block& block, Uses& uses) {
  for (const auto& node : block.nodes()) {
    for (const Value& input : node->inputs()) ++uses[&input.node()];
    for (const auto& region : node->regions()) count_uses(*region, uses);
  }
}

bool widens(Value value) {
  if (!is(value, ScalarOp::cast)) return false;
  const DType from = value.node().in().dtype();
  return is_float(from) && is_float(value.dtype()) && size_of(from) < size_of(value.dtype());
}

bool joins_loops(const Node& node) { return node.op().scalar || is(node.out(), ops::sum_op); }

}  // namespace

Module widen_late(Module module) {
  Uses uses;
  count_uses(module.block(), uses);
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

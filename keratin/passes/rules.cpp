#include "keratin/passes/rules.h"

#include <algorithm>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/ir/rewrite.h"

namespace keratin {

namespace {

bool sizes_known(const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](Value input) { return input.shape().known(); }) &&
         node.type().shape.known();
}

}  // namespace

Module apply_rules(Module module, std::span<const RuleFor> rules) {
  std::unordered_map<const OpDef*, std::vector<Rule>> by_op;
  for (const RuleFor& entry : rules) by_op[entry.op].push_back(entry.rule);
  const auto replacement = [&](const Node& node, const OpDef* key) -> Value {
    const auto found = by_op.find(key);
    if (found == by_op.end()) return {};
    for (const Rule rule : found->second)
      if (const Value value = rule(node); value.defined()) return value;
    return {};
  };
  return rewrite_fully(std::move(module), [&](const Node& node) -> std::optional<Values> {
    if (node.output_count() != 1 || !sizes_known(node)) return std::nullopt;
    Value value = replacement(node, &node.op());
    if (!value.defined()) value = replacement(node, nullptr);
    if (!value.defined()) return std::nullopt;
    ensure(value.dtype() == node.type().dtype && value.shape() == node.type().shape, "rules: '",
           node.name(), "' gives ", node.type(), ", its replacement by '", value.node().name(),
           "' ", value.type());
    return Values{value};
  });
}

}  // namespace keratin

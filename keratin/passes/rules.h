#pragma once

#include <span>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"
#include "keratin/ops/records.h"

namespace keratin {

// Returns a replacement for the only output of a node, of the same dtype and shape. Returns an
// undefined value if it does not apply; then it must not have appended a node.
using Rule = Value (*)(const Node&);

// A rule and the op it looks at; nullptr means every op.
struct RuleFor {
  const OpDef* op;
  Rule rule;

  constexpr RuleFor(const OpDef* looked_at, Rule r) : op(looked_at), rule(r) {}
  constexpr RuleFor(ScalarOp looked_at, Rule r) : RuleFor(&ops::record_of(looked_at), r) {}
};

// Applies the rules in their order to every node, and to its replacements, until none applies.
// Nodes with several outputs or with unknown sizes are left alone.
Module apply_rules(Module module, std::span<const RuleFor> rules);

inline bool is(Value value, const OpDef& op) { return &value.node().op() == &op; }
inline bool is(Value value, ScalarOp op) { return value.node().op().scalar == op; }

}  // namespace keratin

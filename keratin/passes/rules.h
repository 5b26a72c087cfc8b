#pragma once

#include <span>

#include "keratin/ir/module.h"

namespace keratin {

// What may stand for the only output of a node, of the same dtype and shape; undefined when the
// rule does not apply, and then it must not have appended anything.
using Rule = Value (*)(const Node&);

// A rule and the op it looks at; nullptr means every op.
struct RuleFor {
  const OpDef* op;
  Rule rule;
};

// Applies the rules in their order to every node, and to what comes of it, until none applies.
// Nodes of several outputs and of unknown sizes are left alone.
Module apply_rules(Module module, std::span<const RuleFor> rules);

inline bool is(Value value, const OpDef& op) { return &value.node().op() == &op; }

}  // namespace keratin

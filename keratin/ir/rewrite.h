#pragma once

#include <functional>
#include <optional>

#include "keratin/ir/module.h"

namespace keratin {

// Looks at a node whose inputs are already rewritten. May append nodes to its block, and returns
// the values that replace its outputs, or nothing to keep it.
using Rewrite = std::function<std::optional<Values>(const Node&)>;

// Rebuilds a module node by node, in order, regions before the node that holds them. Linear in the
// number of nodes. Replaced nodes are gone; nodes left without a use stay until `eliminate_dead`.
Module rewrite(Module module, const Rewrite& visit);
// The same, and what a visit appends is visited in turn, until no visit changes anything more.
Module rewrite_fully(Module module, const Rewrite& visit);

// Drops the nodes for which `dead` is true; nothing that stays may use them.
Module remove_nodes(Module module, const std::function<bool(const Node&)>& dead);

// Puts the nodes of the module's own block in another order: order[i] is the old position of what
// comes i-th. Every node must come after those it uses.
Module reorder_nodes(Module module, const std::vector<size_t>& order);

}  // namespace keratin

#pragma once

#include <functional>
#include <optional>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

// Visits a node whose inputs are already rewritten. It may append nodes to the block, and returns
// the values that replace the outputs, or nothing to keep the node.
using Rewrite = std::function<std::optional<Values>(const Node&)>;

// Rebuilds a module node by node, in order, regions before the node that holds them. Linear in the
// number of nodes. Replaced nodes are removed; nodes without users stay until `eliminate_dead`.
Module rewrite(Module module, const Rewrite& visit);
// The same, but nodes that a visit appends are visited, too, until no visit replaces anything.
Module rewrite_fully(Module module, const Rewrite& visit);

// Removes the nodes for which `dead` is true; the other nodes must not use them.
Module remove_nodes(Module module, const std::function<bool(const Node&)>& dead);

// Reorders the nodes of the module's own block: order[i] is the old position of the i-th node.
// Every node must come after those it uses.
Module reorder_nodes(Module module, const std::vector<size_t>& order);

}  // namespace keratin

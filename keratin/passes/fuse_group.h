#pragma once

#include <functional>
#include <string>

#include "keratin/ir/block_table.h"
#include "keratin/ir/gather.h"

namespace keratin {

// Nodes of one block, by position.
using NodeSet = BlockTable<bool>;

// The groups of a block, for `gather`; `returned` are the nodes that it or an update returns.
using FindGroups = std::function<std::vector<Gather::Group>(const Block&, const NodeSet& returned)>;

// Is this input of a member made by a node that costs nothing inside a group? It is copied in.
using CopiesIn = bool (*)(const Node& member, size_t input);

// Replaces every group by a `fused` node of this kind; the region's results are the members that
// something outside uses. Scalar constants are copied in. What is fused already stays as it is.
Module fuse_groups(
    Module module, const std::string& kind, const FindGroups& find,
    CopiesIn copies_in = [](const Node&, size_t) { return false; });

bool is_scalar_constant(Value value);

}  // namespace keratin

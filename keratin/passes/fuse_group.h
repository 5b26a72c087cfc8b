#pragma once

#include <functional>
#include <string>

#include "keratin/ir/block_table.h"
#include "keratin/ir/gather.h"

namespace keratin {

// Nodes of one block, by position.
using NodeSet = BlockTable<bool>;

// Finds the groups of a block, for `gather`; `returned` are the nodes that it or an update returns.
using FindGroups = std::function<std::vector<Gather::Group>(const Block&, const NodeSet& returned)>;

// True if the node that makes this input of a member costs nothing inside a group: it is copied.
using CopiesIn = bool (*)(const Node& member, size_t input);

// Replaces every group by a `fused` node of this kind. The region's results are the members that
// have users outside; scalar constants are copied into it. Fused nodes are left alone.
Module fuse_groups(
    Module module, const std::string& kind, const FindGroups& find,
    CopiesIn copies_in = [](const Node&, size_t) { return false; });

bool is_scalar_constant(Value value);

}  // namespace keratin

#pragma once

#include <string>
#include <unordered_set>

#include "keratin/ir/gather.h"

namespace keratin {

// Nodes whose values something outside their group uses, or a block returns.
using UsedOutside = std::unordered_set<const Node*>;

// Adds what the groups of a block leave visible to the rest of it.
void find_used_outside(const Block& block, const std::vector<Gather::Group>& groups,
                       UsedOutside& used);

// Appends a `fused` node that computes the group; the region's results are its members that are
// used outside. Scalar constants are copied in. For Gather::merge.
std::vector<Values> fuse_group(Block& block, const Gather::Group& group, const UsedOutside& used,
                               const std::string& kind);

bool is_scalar_constant(Value value);

}  // namespace keratin

#pragma once

#include <functional>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

// The functions that `gather` calls.
struct Gather {
  using Group = std::vector<Node*>;  // nodes of one block, in order
  // The groups of a block, without overlap. Users of a member outside its group must come after the
  // last member of the group.
  std::function<std::vector<Group>(const Block&)> groups;
  // Appends the replacement of a group to the block, and returns the new values of each member's
  // outputs; undefined for those without a user outside.
  std::function<std::vector<Values>(Block&, const Group&)> merge;
  // Whether to gather in the regions of a node.
  std::function<bool(const Node&)> enter;
};

// Replaces every group by the result of `merge`, at the position of its last member. Regions are
// gathered first. Linear in the number of nodes.
Module gather(Module module, const Gather& how);

}  // namespace keratin

#pragma once

#include <functional>

#include "keratin/ir/module.h"

namespace keratin {

// How nodes are gathered into one: see `gather`.
struct Gather {
  using Group = std::vector<Node*>;  // nodes of one block, in order
  // The groups of a block, without overlap. What uses a member from outside its group must come
  // after the group's last member.
  std::function<std::vector<Group>(const Block&)> groups;
  // Appends to the block what replaces a group, and returns what becomes of each member's outputs;
  // undefined where nobody outside uses one.
  std::function<std::vector<Values>(Block&, const Group&)> merge;
  // Whether to look into the regions of a node.
  std::function<bool(const Node&)> enter;
};

// Replaces every group by what `merge` makes of it, where the last member stood. Regions are
// gathered first. Linear in the number of nodes.
Module gather(Module module, const Gather& how);

}  // namespace keratin

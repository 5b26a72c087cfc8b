#pragma once

#include <vector>

#include "keratin/ir/node.h"

namespace keratin {

// A table with an entry for each parameter and node of one block. Entries are found by position, so
// the table stays valid while nodes are only appended; these have no entry.
template <class T>
class BlockTable {
 public:
  explicit BlockTable(const Block& block, T initial = {})
      : parameters_(block.parameters().size()),
        entries_(parameters_ + block.nodes().size(), initial) {}

  decltype(auto) operator[](const Node& node) { return entries_[index(node)]; }
  decltype(auto) operator[](const Node& node) const { return entries_[index(node)]; }

 private:
  size_t index(const Node& node) const {
    return is_parameter(node) ? node.position() : parameters_ + node.position();
  }

  size_t parameters_;
  std::vector<T> entries_;
};

}  // namespace keratin

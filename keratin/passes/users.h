#pragma once

#include <span>

#include "keratin/ir/block_table.h"

namespace keratin {

// The users of each node of a block, each once, in order.
class Users {
 public:
  explicit Users(const Block& block) : ranges_(block) {
    for (const auto& node : block.nodes())
      for (const Value& input : node->inputs()) ++ranges_[input.node()].last;
    size_t next = 0;
    const auto make_room = [&](const Node& node) {
      const size_t uses = ranges_[node].last;
      ranges_[node] = {next, next};
      next += uses;
    };
    for (const auto& parameter : block.parameters()) make_room(*parameter);
    for (const auto& node : block.nodes()) make_room(*node);
    users_.resize(next);
    for (const auto& node : block.nodes())
      for (const Value& input : node->inputs()) add(ranges_[input.node()], *node);
  }

  std::span<Node* const> of(const Node& node) const {
    const Range range = ranges_[node];
    return {users_.data() + range.first, range.last - range.first};
  }

 private:
  struct Range {
    size_t first = 0, last = 0;
  };

  void add(Range& range, Node& user) {
    if (range.first == range.last || users_[range.last - 1] != &user) users_[range.last++] = &user;
  }

  BlockTable<Range> ranges_;
  std::vector<Node*> users_;
};

}  // namespace keratin

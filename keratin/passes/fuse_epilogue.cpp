#include "keratin/passes/fuse_epilogue.h"

#include <algorithm>
#include <optional>

#include "keratin/ops/fused.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/fuse_group.h"
#include "keratin/passes/users.h"

namespace keratin {
namespace {

constexpr size_t max_epilogue_members = 24;
constexpr int max_side_depth = 3;

bool is_anchor(const Node& node) {
  return (&node.op() == &ops::matmul_op || &node.op() == &ops::conv_op) &&
         is_float(node.type().dtype) && node.type().shape.known();
}

bool is_transpose(const Node& node) { return &node.op() == &ops::transpose_op; }

// Where a transpose puts the contiguous axis of its input: 0 is the last axis, 1 the one before.
int64_t contiguous_axis(const Node& transpose) {
  const Dims& permutation = transpose.attr<ops::TransposeAttrs>().permutation;
  const auto last = static_cast<int64_t>(permutation.size()) - 1;
  const auto position =
      std::find(permutation.begin(), permutation.end(), last) - permutation.begin();
  return last - position;
}

// True if a matmul can read this input through its transpose at no cost.
bool reads_through(const Node& member, size_t input) {
  if (&member.op() != &ops::matmul_op) return false;
  const Node& source = member.in(input).node();
  return is_transpose(source) && contiguous_axis(source) <= 1;
}

// One value, one per column, or one per element of the anchor's result.
bool is_readable(const Shape& operand, const Shape& anchor) {
  if (operand == anchor || operand.count() == 1) return true;
  return operand.rank() <= anchor.rank() && operand.back() == anchor.back() &&
         operand.count() == operand.back();
}

// The number of anchors in front of each node of a block, along the longest path to it.
BlockTable<int> count_anchors_before(const Block& block) {
  BlockTable<int> counts(block);
  for (const auto& node : block.nodes())
    for (const Value& input : node->inputs())
      counts[*node] =
          std::max(counts[*node], counts[input.node()] + (is_anchor(input.node()) ? 1 : 0));
  return counts;
}

struct BlockFacts {
  Users users;
  BlockTable<int> anchors_before;
  const NodeSet& returned;
  NodeSet taken;  // by another group
  bool side_by_side;
};

bool before(const Node* a, const Node* b) { return a->position() < b->position(); }

// A pointwise op that may join, after the ops that only it uses.
using Unit = Gather::Group;

// Grows one group from an anchor.
class Growth {
 public:
  Growth(Node& anchor, const BlockFacts& facts)
      : anchor_(anchor), facts_(facts), members_{&anchor} {
    std::vector<Node*> next{&anchor};
    while (!next.empty() && members_.size() < max_epilogue_members) {
      const Node* source = next.back();
      next.pop_back();
      for (Node* user : facts.users.of(*source)) {
        if (members_.size() >= max_epilogue_members) break;
        if (!contains(*user) && try_user(*user)) next.push_back(user);
      }
    }
    std::sort(units_.begin(), units_.end(),
              [](const Unit& a, const Unit& b) { return before(a.back(), b.back()); });
  }

  // The most units of which only the last op has users outside.
  Gather::Group best() {
    for (; !units_.empty(); units_.pop_back()) {
      members_ = {&anchor_};
      for (const Unit& unit : units_) members_.insert(members_.end(), unit.begin(), unit.end());
      if (only_last_visible()) break;
    }
    if (units_.empty()) return bare_anchor();
    std::sort(members_.begin(), members_.end(), before);
    return members_;
  }

 private:
  // The anchor with the transposes around it, if there are any.
  Gather::Group bare_anchor() const {
    const auto users = facts_.users.of(anchor_);
    if (&anchor_.op() == &ops::matmul_op && users.size() == 1 && !facts_.returned[anchor_] &&
        is_transpose(*users[0]) && contiguous_axis(*users[0]) == 0)
      return {&anchor_, users[0]};
    if (reads_through(anchor_, 0) || reads_through(anchor_, 1)) return {&anchor_};
    return {};
  }

  bool try_user(Node& user) {
    Unit unit;
    if (!is_loop_op(user) || adds_later_anchor(user) ||
        !readable_inputs(user, unit, max_side_depth))
      return false;
    unit.push_back(&user);
    members_.insert(members_.end(), unit.begin(), unit.end());
    units_.push_back(std::move(unit));
    return true;
  }

  // In a sum of several anchors' results, each anchor adds to the sum of those before it. All then
  // share one memory, and the first anchor does not read the result of another one.
  bool adds_later_anchor(const Node& user) const {
    if (user.op().scalar != ScalarOp::add) return false;
    return std::any_of(user.inputs().begin(), user.inputs().end(), [&](const Value& input) {
      return !contains(input.node()) &&
             follows(input.node(), max_side_depth, [&](const Node& anchor) {
               return is_later(anchor) && anchor.type() == anchor_.type();
             });
    });
  }

  // True if the node is computed from such an anchor by pointwise ops that have no other users.
  template <class Wanted>
  bool follows(const Node& node, int depth, const Wanted& wanted) const {
    if (facts_.users.of(node).size() != 1 || facts_.returned[node]) return false;
    if (is_anchor(node)) return wanted(node);
    if (depth == 0 || !is_loop_op(node)) return false;
    return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value& input) {
      return follows(input.node(), depth - 1, wanted);
    });
  }

  // Of two convolutions, the one with more anchors in front of it is the later one: if steps run at
  // the same time, the shortcut of a residual block has finished by then.
  bool is_later(const Node& anchor) const {
    const int mine = facts_.anchors_before[anchor_], others = facts_.anchors_before[anchor];
    return are_convolutions(anchor) && mine != others ? mine < others : before(&anchor_, &anchor);
  }
  bool are_convolutions(const Node& anchor) const {
    return &anchor_.op() == &ops::conv_op && &anchor.op() == &ops::conv_op;
  }

  bool is_loop_op(const Node& node) const {
    return node.op().scalar && node.type().shape == anchor_.type().shape && !facts_.taken[node];
  }

  // True if each input is a member, can be read from outside, or is computed by ops without other
  // users, which then join.
  bool readable_inputs(const Node& node, Unit& sides, int depth) const {
    for (const Value& input : node.inputs()) {
      if (contains(input.node()) || add_side(input.node(), sides, depth)) continue;
      const bool sent = &input.node().op() == &ops::transfer_op;
      if (sent && facts_.side_by_side && input.shape() == anchor_.type().shape) return false;
      if (!is_readable(input.shape(), anchor_.type().shape)) return false;
    }
    return true;
  }

  bool add_side(Node& node, Unit& sides, int depth) const {
    if (std::find(sides.begin(), sides.end(), &node) != sides.end()) return true;
    const bool alone = facts_.users.of(node).size() == 1 && !facts_.returned[node];
    if (depth == 0 || !alone || !is_loop_op(node)) return false;
    // The epilogue of another convolution is left to it.
    const auto is_other = [&](const Node& anchor) {
      return &anchor != &anchor_ && are_convolutions(anchor);
    };
    if (follows(node, max_side_depth, is_other)) return false;
    Unit with = sides;
    if (!readable_inputs(node, with, depth - 1)) return false;
    with.push_back(&node);
    sides = std::move(with);
    return true;
  }

  bool only_last_visible() const {
    const Node* last = members_.back();
    for (const Node* member : members_) {
      if (member == last) continue;
      if (facts_.returned[*member]) return false;
      for (const Node* user : facts_.users.of(*member)) {
        if (!contains(*user)) return false;
      }
    }
    // The result is stored in place of the anchor's.
    return last->type().dtype == anchor_.type().dtype;
  }

  bool contains(const Node& node) const {
    return std::find(members_.begin(), members_.end(), &node) != members_.end();
  }

  Node& anchor_;
  const BlockFacts& facts_;
  std::vector<Unit> units_;
  Gather::Group members_;
};

std::vector<Gather::Group> find_epilogues(const Block& block, const NodeSet& returned,
                                          bool side_by_side) {
  std::vector<Gather::Group> groups;
  std::optional<BlockFacts> facts;  // found when there is an anchor
  for (const auto& node : block.nodes()) {
    if (!is_anchor(*node)) continue;
    if (!facts)
      facts.emplace(BlockFacts{Users(block), count_anchors_before(block), returned, NodeSet(block),
                               side_by_side});
    Gather::Group group = Growth(*node, *facts).best();
    if (group.empty()) continue;
    for (const Node* member : group) facts->taken[*member] = true;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

Module fuse_epilogue(Module module, bool side_by_side) {
  const auto find = [=](const Block& block, const NodeSet& returned) {
    return find_epilogues(block, returned, side_by_side);
  };
  return fuse_groups(std::move(module), "epilogue", find, reads_through);
}

}  // namespace keratin

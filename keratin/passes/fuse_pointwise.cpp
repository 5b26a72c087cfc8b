#include "keratin/passes/fuse_pointwise.h"

#include <algorithm>
#include <optional>

#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/passes/fuse_group.h"

namespace keratin {

namespace {

// Registers are limited: longer chains become several loops.
constexpr size_t max_loop_members = 48;

enum class Reduction { none, all, leading, trailing };

bool is_loop_reduction_op(const OpDef& op) {
  return &op == &ops::sum_op || &op == &ops::max_op || &op == &ops::min_op ||
         &op == &ops::prod_op || &op == &ops::any_op || &op == &ops::all_op;
}

// Which axes a reduction is over, not counting axes of size 1; nothing if a loop cannot have such a
// reduction.
std::optional<Reduction> reduction_of(const Node& node) {
  const Shape& shape = node.in().shape();
  const Dims& axes = node.attr<ops::ReduceAttrs>().axes;
  std::vector<bool> reduced;
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != 1)
      reduced.push_back(std::find(axes.begin(), axes.end(), axis) != axes.end());
  const auto count = std::count(reduced.begin(), reduced.end(), true);
  if (count == 0) return std::nullopt;
  if (count == static_cast<int64_t>(reduced.size())) return Reduction::all;
  if (std::is_sorted(reduced.begin(), reduced.end())) return Reduction::trailing;
  if (std::is_sorted(reduced.rbegin(), reduced.rend())) return Reduction::leading;
  return std::nullopt;
}

// A node's role in a loop: the shape that it iterates over, and its kind of reduction.
struct Role {
  Shape shape;
  Reduction reduction = Reduction::none;
};

std::optional<Role> role_of(const Node& node) {
  if (node.op().scalar || &node.op() == &ops::broadcast_to_op) return Role{node.type().shape};
  if (!is_loop_reduction_op(node.op())) return std::nullopt;
  const auto reduction = reduction_of(node);
  if (!reduction) return std::nullopt;
  return Role{node.in().shape(), *reduction};
}

struct Loop {
  Role role;
  Device device;
  std::vector<Node*> members;
  bool open = true;   // no node outside uses a member yet
  bool gone = false;  // merged into another loop
};

// Finds the loops of one block in one sweep. A node joins the open loops that make its inputs; as
// long as they are open, no other node depends on them, so merging two cannot create a cycle.
class LoopFinder {
 public:
  explicit LoopFinder(const Block& block) : block_(block), loop_of_(block, no_loop) {}

  std::vector<Gather::Group> find() {
    for (const auto& node : block_.nodes()) visit(*node);
    std::vector<Gather::Group> groups;
    for (Loop& loop : loops_)
      if (!loop.gone && loop.members.size() > 1) groups.push_back(std::move(loop.members));
    for (Gather::Group& group : groups)
      std::sort(group.begin(), group.end(),
                [](const Node* a, const Node* b) { return a->position() < b->position(); });
    return groups;
  }

 private:
  static constexpr size_t no_loop = static_cast<size_t>(-1);

  void visit(Node& node) {
    if (const auto role = role_of(node)) {
      join(node, *role);
    } else {
      close_inputs(node, no_loop);
    }
  }

  void join(Node& node, const Role& role) {
    size_t target = no_loop;
    for (const Value& input : node.inputs()) {
      const size_t candidate = loop_of_[input.node()];
      if (candidate == no_loop || candidate == target || !fits(candidate, node, role)) continue;
      target = target == no_loop ? candidate : merge(target, candidate);
    }
    if (target == no_loop) {
      target = loops_.size();
      loops_.push_back({role, node.device(), {}, true, false});
    }
    Loop& loop = loops_[target];
    loop.members.push_back(&node);
    if (role.reduction != Reduction::none) loop.role.reduction = role.reduction;
    loop_of_[node] = target;
    close_inputs(node, target);
  }

  bool fits(size_t candidate, const Node& node, const Role& role) const {
    const Loop& loop = loops_[candidate];
    if (!loop.open || loop.role.shape != role.shape || loop.device != node.device()) return false;
    if (loop.members.size() >= max_loop_members) return false;
    if (role.reduction != Reduction::none && loop.role.reduction != Reduction::none &&
        role.reduction != loop.role.reduction)
      return false;
    // The result of a reduction is available only after the loop.
    for (const Value& input : node.inputs())
      if (loop_of_[input.node()] == candidate && !input.node().op().scalar &&
          is_loop_reduction_op(input.node().op()))
        return false;
    return true;
  }

  // Merges `other` into `kept`, unless they are too large or differ in kind; returns the loop to
  // join.
  size_t merge(size_t kept, size_t other) {
    Loop &a = loops_[kept], &b = loops_[other];
    const bool kinds_differ = a.role.reduction != Reduction::none &&
                              b.role.reduction != Reduction::none &&
                              a.role.reduction != b.role.reduction;
    if (kinds_differ || a.members.size() + b.members.size() >= max_loop_members) return kept;
    // Moving the smaller one bounds the total cost by n log n.
    if (a.members.size() < b.members.size()) return merge(other, kept);
    for (Node* member : b.members) loop_of_[*member] = kept;
    a.members.insert(a.members.end(), b.members.begin(), b.members.end());
    if (b.role.reduction != Reduction::none) a.role.reduction = b.role.reduction;
    b.gone = true;
    b.members.clear();
    return kept;
  }

  void close_inputs(const Node& node, size_t own) {
    for (const Value& input : node.inputs()) {
      const size_t loop = loop_of_[input.node()];
      if (loop != no_loop && loop != own) loops_[loop].open = false;
    }
  }

  const Block& block_;
  std::vector<Loop> loops_;
  BlockTable<size_t> loop_of_;
};

}  // namespace

Module fuse_pointwise(Module module) {
  return fuse_groups(
      std::move(module), "loop",
      [](const Block& block, const NodeSet& /*returned*/) { return LoopFinder(block).find(); });
}

}  // namespace keratin

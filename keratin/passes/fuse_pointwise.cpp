#include "keratin/passes/fuse_pointwise.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/passes/fuse_group.h"

namespace keratin {

namespace {

// A loop's registers are finite: larger chains become several loops.
constexpr size_t max_members = 48;

enum class Reduction { none, all, leading, trailing };

bool is_loop_reduction_op(const OpDef& op) {
  return &op == &ops::sum_op || &op == &ops::max_op || &op == &ops::min_op ||
         &op == &ops::prod_op || &op == &ops::any_op || &op == &ops::all_op;
}

// Which axes a reduction runs over, axes of size 1 aside; nothing when it is none of a loop's
// kinds.
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

// What a node can be in a loop: its shape, and its kind of reduction.
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
  bool open = true;   // nothing outside uses a member yet
  bool gone = false;  // merged into another loop
};

// Finds the loops of one block in one sweep. A node joins the open loops that make its inputs; as
// long as they are open nothing outside depends on them, so joining two cannot close a circle.
class LoopFinder {
 public:
  std::vector<Gather::Group> find(const Block& block) {
    for (const auto& node : block.nodes()) visit(*node);
    std::vector<Gather::Group> groups;
    for (Loop& loop : loops_)
      if (!loop.gone && loop.members.size() > 1) groups.push_back(std::move(loop.members));
    for (Gather::Group& group : groups)
      std::sort(group.begin(), group.end(),
                [&](const Node* a, const Node* b) { return position_.at(a) < position_.at(b); });
    return groups;
  }

 private:
  void visit(Node& node) {
    position_.emplace(&node, position_.size());
    if (const auto role = role_of(node)) {
      join(node, *role);
    } else {
      close_inputs(node, no_loop);
    }
  }

  static constexpr size_t no_loop = static_cast<size_t>(-1);

  void join(Node& node, const Role& role) {
    size_t target = no_loop;
    for (const Value& input : node.inputs()) {
      const size_t candidate = loop_of(input.node());
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
    loop_of_[&node] = target;
    close_inputs(node, target);
  }

  size_t loop_of(const Node& node) const {
    const auto found = loop_of_.find(&node);
    return found == loop_of_.end() ? no_loop : found->second;
  }

  bool fits(size_t candidate, const Node& node, const Role& role) const {
    const Loop& loop = loops_[candidate];
    if (!loop.open || loop.role.shape != role.shape || loop.device != node.device()) return false;
    if (loop.members.size() >= max_members) return false;
    if (role.reduction != Reduction::none && loop.role.reduction != Reduction::none &&
        role.reduction != loop.role.reduction)
      return false;
    // A reduction's result is complete only after the loop.
    for (const Value& input : node.inputs())
      if (loop_of(input.node()) == candidate && !input.node().op().scalar &&
          is_loop_reduction_op(input.node().op()))
        return false;
    return true;
  }

  // Into `kept`, unless together they are too large or of two kinds; returns the loop to join.
  size_t merge(size_t kept, size_t other) {
    Loop &a = loops_[kept], &b = loops_[other];
    const bool kinds_differ = a.role.reduction != Reduction::none &&
                              b.role.reduction != Reduction::none &&
                              a.role.reduction != b.role.reduction;
    if (kinds_differ || a.members.size() + b.members.size() >= max_members) return kept;
    // The smaller one moves, so that all moves together are n log n.
    if (a.members.size() < b.members.size()) return merge(other, kept);
    for (Node* member : b.members) loop_of_[member] = kept;
    a.members.insert(a.members.end(), b.members.begin(), b.members.end());
    if (b.role.reduction != Reduction::none) a.role.reduction = b.role.reduction;
    b.gone = true;
    b.members.clear();
    return kept;
  }

  void close_inputs(const Node& node, size_t own) {
    for (const Value& input : node.inputs()) {
      const size_t loop = loop_of(input.node());
      if (loop != no_loop && loop != own) loops_[loop].open = false;
    }
  }

  std::vector<Loop> loops_;
  std::unordered_map<const Node*, size_t> loop_of_;
  std::unordered_map<const Node*, size_t> position_;
};

}  // namespace

Module fuse_pointwise(Module module) {
  UsedOutside used;
  for (const Update& update : module.updates()) used.insert(&update.value.node());
  return gather(
      std::move(module),
      {.groups =
           [&](const Block& block) {
             auto groups = LoopFinder().find(block);
             find_used_outside(block, groups, used);
             return groups;
           },
       .merge = [&](Block& block,
                    const Gather::Group& group) { return fuse_group(block, group, used, "loop"); },
       // What is fused stays as it is.
       .enter = [](const Node& node) { return &node.op() != &ops::fused_op; }});
}

}  // namespace keratin

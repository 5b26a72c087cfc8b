#include "keratin/passes/fuse_pointwise.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "keratin/ir/gather.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"

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

bool is_scalar_constant(Value value) {
  const Tensor* tensor = ops::constant_value(value);
  return tensor != nullptr && tensor->count() == 1 && tensor->shape().rank() == 0;
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

// Turns the loops into fused nodes; knows which members are used from outside their loop.
class Fusion {
 public:
  std::vector<Gather::Group> groups(const Block& block) {
    std::vector<Gather::Group> found = LoopFinder().find(block);
    std::unordered_map<const Node*, size_t> group_of;
    for (size_t i = 0; i < found.size(); ++i)
      for (const Node* member : found[i]) group_of[member] = i + 1;
    const auto group = [&](const Node& node) {
      const auto it = group_of.find(&node);
      return it == group_of.end() ? size_t{0} : it->second;
    };
    for (const auto& node : block.nodes())
      for (const Value& input : node->inputs())
        if (group(input.node()) != group(*node)) used_outside_.insert(&input.node());
    for (const Value& result : block.results) used_outside_.insert(&result.node());
    return found;
  }

  void also_used(const Values& values) {
    for (const Value& value : values) used_outside_.insert(&value.node());
  }

  std::vector<Values> merge(Block& block, const Gather::Group& group) {
    auto region = std::make_unique<Block>(block.depth() + 1);
    Values inputs;
    inside_.clear();
    for (const Node* member : group)
      for (const Value& input : member->inputs()) bring_in(input, group, *region, inputs);
    std::vector<const Node*> escaping;
    for (const Node* member : group) {
      copy_into(*member, *region);
      if (!used_outside_.contains(member)) continue;
      escaping.push_back(member);
      region->results.push_back(inside_.at(member)[0]);
    }
    const Node& loop = ops::fused(block, inputs, std::move(region), "loop");
    std::vector<Values> outputs;
    for (const Node* member : group) {
      const auto position = std::find(escaping.begin(), escaping.end(), member);
      outputs.push_back({position == escaping.end()
                             ? Value()
                             : loop.out(static_cast<size_t>(position - escaping.begin()))});
    }
    return outputs;
  }

 private:
  // An input from outside becomes a parameter, a scalar constant is copied.
  void bring_in(Value input, const Gather::Group& group, Block& region, Values& inputs) {
    if (std::find(group.begin(), group.end(), &input.node()) != group.end()) return;
    Values& known = inside_[&input.node()];
    known.resize(input.node().output_count());
    if (known[input.index()].defined()) return;
    if (is_scalar_constant(input)) {
      known[input.index()] = ops::constant(region, *ops::constant_value(input));
    } else {
      known[input.index()] = region.parameter(input.type());
      inputs.push_back(input);
    }
  }

  void copy_into(const Node& member, Block& region) {
    Values inputs;
    for (const Value& input : member.inputs())
      inputs.push_back(inside_.at(&input.node())[input.index()]);
    inside_[&member] = region.append(member.op(), inputs, member.attrs()).outputs();
  }

  std::unordered_set<const Node*> used_outside_;
  std::unordered_map<const Node*, Values> inside_;  // of the group being merged
};

}  // namespace

Module fuse_pointwise(Module module) {
  Fusion fusion;
  for (const Update& update : module.updates()) fusion.also_used({update.value});
  return gather(std::move(module),
                {.groups = [&](const Block& block) { return fusion.groups(block); },
                 .merge = [&](Block& block,
                              const Gather::Group& group) { return fusion.merge(block, group); },
                 // What is fused stays as it is.
                 .enter = [](const Node& node) { return &node.op() != &ops::fused_op; }});
}

}  // namespace keratin

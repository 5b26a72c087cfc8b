#include "keratin/passes/fuse_group.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"

namespace keratin {
namespace {

// Copies a group into a region.
class RegionBuilder {
 public:
  RegionBuilder(Block& region, const Gather::Group& group, CopiesIn copies_in) : region_(region) {
    for (const Node* member : group) inside_[member];
    for (const Node* member : group) {
      for (size_t i = 0; i < member->input_count(); ++i) {
        const Node& source = member->in(i).node();
        if (inside_.contains(&source) || !copies_in(*member, i)) {
          bring_in(member->in(i));
          continue;
        }
        for (const Value& input : source.inputs()) bring_in(input);
        copy(source);
      }
    }
    for (const Node* member : group) copy(*member);
  }

  const Values& inputs() const { return inputs_; }
  Value of(const Node& member) const { return inside_.at(&member)[0]; }

 private:
  // An input from outside becomes a parameter; a scalar constant is copied.
  void bring_in(Value input) {
    const auto [known, fresh] = inside_.try_emplace(&input.node());
    const bool member = !fresh && known->second.empty();
    if (member) return;
    known->second.resize(input.node().output_count());
    Value& value = known->second[input.index()];
    if (value.defined()) return;
    if (is_scalar_constant(input)) {
      value = ops::constant(region_, *ops::constant_value(input));
    } else {
      value = region_.parameter(input.type());
      inputs_.push_back(input);
    }
  }

  void copy(const Node& member) {
    Values inputs;
    for (const Value& input : member.inputs()) {
      inputs.push_back(inside_.at(&input.node())[input.index()]);
    }
    inside_[&member] = region_.append(member.op(), inputs, member.attrs()).outputs();
  }

  Block& region_;
  Values inputs_;
  std::unordered_map<const Node*, Values> inside_;  // empty: a member not copied yet
};

// Marks the members of groups that have users outside their group.
void find_used_outside(const Block& block, const std::vector<Gather::Group>& groups,
                       NodeSet& used) {
  BlockTable<size_t> group_of(block, 0);
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const Node* member : groups[i]) group_of[*member] = i + 1;
  }
  for (const auto& node : block.nodes()) {
    for (const Value& input : node->inputs()) {
      if (group_of[input.node()] != group_of[*node]) used[input.node()] = true;
    }
  }
}

// Appends the replacement of a group, see Gather::merge.
std::vector<Values> fuse_group(Block& block, const Gather::Group& group, const NodeSet& used,
                               const std::string& kind, CopiesIn copies_in) {
  auto region = std::make_unique<Block>(block.depth() + 1);
  const RegionBuilder builder(*region, group, copies_in);
  std::vector<const Node*> visible;
  for (const Node* member : group) {
    if (!used[*member]) continue;
    visible.push_back(member);
    region->results.push_back(builder.of(*member));
  }
  Node& fused = ops::fused(block, builder.inputs(), std::move(region), kind);
  fused.place(group.back()->device());  // without inputs there is none to take it from
  std::vector<Values> outputs;
  for (const Node* member : group) {
    const auto position = std::find(visible.begin(), visible.end(), member);
    const auto index = static_cast<size_t>(position - visible.begin());
    outputs.push_back({position == visible.end() ? Value() : fused.out(index)});
  }
  return outputs;
}

}  // namespace

bool is_scalar_constant(Value value) {
  const Tensor* tensor = ops::constant_value(value);
  return tensor != nullptr && tensor->count() == 1 && tensor->shape().rank() == 0;
}

Module fuse_groups(Module module, const std::string& kind, const FindGroups& find,
                   CopiesIn copies_in) {
  const std::vector<Update> updates = module.updates();
  std::optional<NodeSet> used;  // of the block whose groups were found last
  return gather(std::move(module),
                {.groups =
                     [&](const Block& block) {
                       used.emplace(block);
                       for (const Value& result : block.results) (*used)[result.node()] = true;
                       if (block.depth() == 0)
                         for (const Update& update : updates) (*used)[update.value.node()] = true;
                       auto groups = find(block, *used);
                       find_used_outside(block, groups, *used);
                       return groups;
                     },
                 .merge =
                     [&](Block& block, const Gather::Group& group) {
                       return fuse_group(block, group, *used, kind, copies_in);
                     },
                 .enter = [](const Node& node) { return &node.op() != &ops::fused_op; }});
}

}  // namespace keratin

#include "keratin/ir/gather.h"
#include "keratin/base/text.h"

namespace keratin {

class Gatherer {
 public:
  explicit Gatherer(const Gather& how) : how_(how) {}

  void run(Module& module) {
    run(*module.block_);
    for (Update& update : module.updates_) update.value = current(update.value);
    graveyard_.clear();
  }

 private:
  static Value current(Value value) {
    const Values& replacement = value.node().replacement_;
    return replacement.empty() ? value : replacement[value.index()];
  }

  void run(Block& block) {
    for (const auto& node : block.nodes_)
      if (!node->regions_.empty() && how_.enter(*node))
        for (const auto& region : node->regions_) run(*region);
    const std::vector<Gather::Group> groups = how_.groups(block);
    std::vector<const Gather::Group*> group_of(block.nodes_.size());
    for (const Gather::Group& group : groups)
      for (const Node* member : group) group_of[member->position()] = &group;

    auto old = std::move(block.nodes_);
    block.nodes_.clear();
    for (auto& node : old) {
      for (Value& input : node->inputs_) input = current(input);
      const Gather::Group* group = group_of[node->position()];
      if (group == nullptr) {
        block.push(std::move(node));
        continue;
      }
      const bool last = node.get() == group->back();
      graveyard_.push_back(std::move(node));
      if (last) merge(block, *group);
    }
    for (Value& result : block.results) result = current(result);
  }

  void merge(Block& block, const Gather::Group& group) {
    const OriginScope origin(group.back()->origin());
    std::vector<Values> outputs = how_.merge(block, group);
    ensure(outputs.size() == group.size(), "gather: a group of ", group.size(), " nodes became ",
           outputs.size());
    for (size_t i = 0; i < group.size(); ++i) group[i]->replacement_ = std::move(outputs[i]);
  }

  const Gather& how_;
  std::vector<std::unique_ptr<Node>> graveyard_;  // members live until they have no users
};

Module gather(Module module, const Gather& how) {
  Gatherer(how).run(module);
  return module;
}

}  // namespace keratin

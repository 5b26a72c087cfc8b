#include "keratin/ir/rewrite.h"

namespace keratin {

class Rewriter {
 public:
  explicit Rewriter(const Rewrite& visit) : visit_(visit) {}

  void run(Module& module) {
    run(*module.block_);
    for (Update& update : module.updates_) update.value = current(update.value);
    graveyard_.clear();
  }

  static void remove(Block& block, const std::function<bool(const Node&)>& dead) {
    auto kept = std::move(block.nodes_);
    block.nodes_.clear();
    for (auto& node : kept) {
      if (dead(*node)) continue;
      for (const auto& region : node->regions_) remove(*region, dead);
      block.nodes_.push_back(std::move(node));
    }
  }

 private:
  static Value current(Value value) {
    const Values& replacement = value.node().replacement_;
    return replacement.empty() ? value : replacement[value.index()];
  }

  void run(Block& block) {
    auto old = std::move(block.nodes_);
    block.nodes_.clear();
    for (auto& node : old) {
      for (const auto& region : node->regions_) run(*region);
      for (Value& input : node->inputs_) input = current(input);
      std::optional<Values> replacement = visit_(*node);
      if (!replacement) {
        block.nodes_.push_back(std::move(node));
        continue;
      }
      ensure(replacement->size() == node->output_count(), "rewrite: '", node->name(), "' has ",
             node->output_count(), " outputs, its replacement ", replacement->size());
      node->replacement_ = std::move(*replacement);
      graveyard_.push_back(std::move(node));
    }
    for (Value& result : block.results) result = current(result);
  }

  const Rewrite& visit_;
  // Replaced nodes live until the end: later nodes still point at them when their turn comes.
  std::vector<std::unique_ptr<Node>> graveyard_;
};

Module remove_nodes(Module module, const std::function<bool(const Node&)>& dead) {
  Rewriter::remove(module.block(), dead);
  return module;
}

Module rewrite(Module module, const Rewrite& visit) {
  Rewriter(visit).run(module);
  return module;
}

}  // namespace keratin

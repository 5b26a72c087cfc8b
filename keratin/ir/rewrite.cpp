#include "keratin/ir/rewrite.h"
#include "keratin/base/text.h"

namespace keratin {

namespace {
// How often the replacement of a node may be replaced again; more means that the rules form a
// cycle.
constexpr int max_generations = 100;
}  // namespace

class Rewriter {
 public:
  Rewriter(const Rewrite& visit, bool fully) : visit_(visit), fully_(fully) {}

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
      block.push(std::move(node));
    }
  }

  static void reorder(Block& block, const std::vector<size_t>& order) {
    ensure(order.size() == block.nodes_.size(), "reorder_nodes: ", order.size(), " positions for ",
           block.nodes_.size(), " nodes");
    auto old = std::move(block.nodes_);
    block.nodes_.clear();
    for (size_t position : order) block.push(std::move(old[position]));
  }

 private:
  struct Pending {
    std::unique_ptr<Node> node;
    int generation = 0;
  };

  static Value current(Value value) {
    while (!value.node().replacement_.empty()) value = value.node().replacement_[value.index()];
    return value;
  }

  void run(Block& block) {
    std::vector<Pending> todo;  // a stack
    const auto postpone = [&](size_t first, int generation) {
      for (size_t i = block.nodes_.size(); i-- > first;)
        todo.push_back({std::move(block.nodes_[i]), generation});
      block.nodes_.resize(first);
    };
    postpone(0, 0);
    while (!todo.empty()) {
      auto [node, generation] = std::move(todo.back());
      todo.pop_back();
      for (const auto& region : node->regions_) run(*region);
      for (Value& input : node->inputs_) input = current(input);
      const size_t made = block.nodes_.size();
      const OriginScope origin(node->origin());
      std::optional<Values> replacement = visit_(*node);
      if (!replacement) {
        block.push(std::move(node));
        continue;
      }
      replace(*node, std::move(*replacement));
      graveyard_.push_back(std::move(node));
      if (!fully_) continue;
      ensure(generation < max_generations, "rewrite: replacing a node never ends");
      postpone(made, generation + 1);
    }
    for (Value& result : block.results) result = current(result);
  }

  static void replace(Node& node, Values replacement) {
    ensure(replacement.size() == node.output_count(), "rewrite: '", node.name(), "' has ",
           node.output_count(), " outputs, its replacement ", replacement.size());
    for (const Value& value : replacement)
      ensure(value.defined() && &value.node() != &node, "rewrite: '", node.name(),
             "' cannot be replaced by itself or by nothing");
    node.replacement_ = std::move(replacement);
  }

  const Rewrite& visit_;
  bool fully_;
  // Replaced nodes live until the end, since nodes not visited yet still refer to them.
  std::vector<std::unique_ptr<Node>> graveyard_;
};

Module remove_nodes(Module module, const std::function<bool(const Node&)>& dead) {
  Rewriter::remove(module.block(), dead);
  return module;
}

Module reorder_nodes(Module module, const std::vector<size_t>& order) {
  Rewriter::reorder(module.block(), order);
  return module;
}

Module rewrite(Module module, const Rewrite& visit) {
  Rewriter(visit, false).run(module);
  return module;
}

Module rewrite_fully(Module module, const Rewrite& visit) {
  Rewriter(visit, true).run(module);
  return module;
}

}  // namespace keratin

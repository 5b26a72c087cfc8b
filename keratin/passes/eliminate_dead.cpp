#include "keratin/passes/eliminate_dead.h"

#include <span>

#include "keratin/ir/rewrite.h"

namespace keratin {

Module eliminate_dead(Module module) {
  std::vector<bool> live(module.number(), false);
  const auto keep = [&](std::span<const Value> values) {
    for (const Value& value : values) live[value.node().id()] = true;
  };
  // Walks backwards, so that nodes with only dead users are dead, too.
  const std::function<void(const Block&)> mark = [&](const Block& block) {
    keep(block.results);
    for (size_t i = block.nodes().size(); i-- > 0;) {
      const Node& node = *block.nodes()[i];
      if (!live[node.id()]) continue;
      keep(node.inputs());
      for (const auto& region : node.regions()) mark(*region);
    }
  };
  for (const Update& update : module.updates()) live[update.value.node().id()] = true;
  mark(module.block());
  return remove_nodes(std::move(module), [&](const Node& node) { return !live[node.id()]; });
}

}  // namespace keratin

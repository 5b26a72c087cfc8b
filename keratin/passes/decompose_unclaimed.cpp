#include "keratin/passes/decompose_unclaimed.h"

#include "keratin/ir/rewrite.h"

namespace keratin {

Module decompose_unclaimed(Module module, const std::function<bool(const Node&)>& claimed) {
  // A decomposition may hold nodes that must be decomposed in turn: round by round, as deep as
  // decompositions are nested.
  bool changed = true;
  while (changed) {
    changed = false;
    module = rewrite(std::move(module), [&](const Node& node) -> std::optional<Values> {
      if (node.op().decompose == nullptr || claimed(node)) return std::nullopt;
      changed = true;
      return node.op().decompose(node);
    });
  }
  return module;
}

}  // namespace keratin

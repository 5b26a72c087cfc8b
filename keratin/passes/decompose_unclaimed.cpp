#include "keratin/passes/decompose_unclaimed.h"

#include "keratin/ir/rewrite.h"

namespace keratin {

Module decompose_unclaimed(Module module, const std::function<bool(const Node&)>& claimed) {
  return rewrite_fully(std::move(module), [&](const Node& node) -> std::optional<Values> {
    if (node.op().decompose == nullptr || claimed(node)) return std::nullopt;
    return node.op().decompose(node);
  });
}

}  // namespace keratin

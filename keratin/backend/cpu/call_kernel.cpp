#include "keratin/backend/cpu/call_kernel.h"

#include <algorithm>

namespace keratin::cpu {

bool is_used(const Node& node, size_t output) {
  const Value value = node.out(output);
  const auto reads = [&](const Values& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  const Block& block = node.block();
  return reads(block.results) ||
         std::any_of(block.nodes().begin(), block.nodes().end(),
                     [&](const auto& user) { return reads(user->inputs()); });
}

}  // namespace keratin::cpu

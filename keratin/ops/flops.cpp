#include "keratin/ops/flops.h"

#include <algorithm>

#include "keratin/ops/records.h"

namespace keratin {

double flops(const Block& block) {
  double total = 0;
  for (const auto& node : block.nodes()) total += flops(*node);
  return total;
}

double flops(const Node& node) {
  if (node.op().flops != nullptr) return node.op().flops(node);
  if (node.op().view || &node.op() == &ops::constant_op) return 0;
  if (!node.regions().empty()) {
    double total = 0;
    for (const auto& region : node.regions()) total += flops(*region);
    return total;
  }
  // Pointwise ops work on their outputs, reductions on their inputs.
  double largest = 0;
  for (const Type& type : node.types())
    largest = std::max(largest, static_cast<double>(type.shape.count()));
  for (const Value& input : node.inputs())
    largest = std::max(largest, static_cast<double>(input.shape().count()));
  return largest;
}

}  // namespace keratin

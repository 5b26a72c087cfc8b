#include "keratin/backend/cpu/call_kernel.h"

#include <algorithm>

namespace keratin::cpu {

bool is_used(Value output) {
  const auto reads = [&](const Values& values) {
    return std::find(values.begin(), values.end(), output) != values.end();
  };
  const Block& block = output.node().block();
  return reads(block.results) ||
         std::any_of(block.nodes().begin(), block.nodes().end(),
                     [&](const auto& user) { return reads(user->inputs()); });
}

AxisSizes axis_sizes(const Shape& shape, int64_t axis) {
  return {shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

}  // namespace keratin::cpu

#pragma once

#include <memory>

#include "keratin/graph/functional.h"

namespace keratin {

// What a layer was called with: the types of a tensor and of its mask.
struct TracedInput {
  Type type;
  std::optional<Type> mask = {};
  bool operator==(const TracedInput&) const = default;
};
using TracedInputs = Tree<TracedInput>;

// A model of Keras's operations that computes what the layer's function does, named as the layer.
// Errors say what of it no operation does, or why no model of operations can do the same.
std::shared_ptr<FunctionalLayer> as_operations(const Layer& layer,
                                               const std::vector<TracedInputs>& calls);

// The config of such a model without what differs between inputs of different shapes.
Json without_shapes(const Json& config);

}  // namespace keratin

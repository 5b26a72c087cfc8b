#pragma once

#include <memory>

#include "keratin/graph/functional.h"

namespace keratin {

// An input of a layer's call: the types of the tensor and of its mask.
struct TracedInput {
  Type type;
  std::optional<Type> mask = {};
  bool operator==(const TracedInput&) const = default;
};
using TracedInputs = Tree<TracedInput>;

// A model of Keras's operations, under the layer's name, that computes what the layer computed in
// these calls. Errors name the op for which Keras has no operation, or why no model can compute it.
std::shared_ptr<FunctionalLayer> as_operations(const Layer& layer,
                                               const std::vector<TracedInputs>& calls);

// The config of such a model without the shapes of its inputs.
Json without_shapes(const Json& config);

}  // namespace keratin

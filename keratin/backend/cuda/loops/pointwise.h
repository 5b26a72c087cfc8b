#pragma once

#include <functional>

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// The expression for one element of a pointwise node's result. It and the elements that it reads,
// `input(i)`, have the type that arithmetic is done in.
std::string expression_of(const Node& node, const std::function<std::string(size_t)>& input);

}  // namespace keratin::cuda

#pragma once

#include <functional>

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// One element of what a pointwise node gives, written in terms of the elements that it reads, which
// are numbers in the type that arithmetic is done in; so is this.
std::string expression_of(const Node& node, const std::function<std::string(size_t)>& input);

}  // namespace keratin::cuda

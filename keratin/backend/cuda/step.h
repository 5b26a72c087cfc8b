#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// The text of a node, compiled for its device and ready to be launched.
std::unique_ptr<Kernel> make_step(const Node& node, const Source& source);

}  // namespace keratin::cuda

#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

using TextMaker = Source (*)(const Node&);

// Who writes the kernel of a node; nullptr for a node that must be decomposed.
TextMaker find_text(const Node& node);

}  // namespace keratin::cuda

#pragma once

#include "keratin/backend/cpu/kernels.h"

namespace keratin::cpu {

// Pointwise ops, reductions and fused regions of them as one generated loop.
Offer make_loop(const Node& node, const KernelOptions& options);
bool claims_loop(const Node& node);

}  // namespace keratin::cpu

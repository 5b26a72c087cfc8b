#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cuda {

// Sums over GPUs by NCCL, where there is one and the devices are GPUs of their own; otherwise the
// node is taken apart.
bool claims_all_reduce(const Node& node);
std::unique_ptr<Kernel> make_all_reduce(const Node& node);

}  // namespace keratin::cuda

#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cuda {

// Matrix products by cuBLASLt; nullptr where its layouts do not reach (integers, batches that are
// broadcast in part).
std::unique_ptr<Kernel> make_matmul(const Node& node, const KernelOptions& options);

}  // namespace keratin::cuda

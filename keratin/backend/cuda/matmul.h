#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cuda {

// Matrix products by cuBLASLt; nullptr where its layouts do not reach (integers, batches that are
// broadcast in part), and for what it refuses.
std::unique_ptr<Kernel> make_matmul(const Node& node, const KernelOptions& options);

// The same of a fused node that cuBLASLt does in one go; see product.h.
bool claims_epilogue(const Node& node);
std::unique_ptr<Kernel> make_epilogue(const Node& node, const KernelOptions& options);

}  // namespace keratin::cuda

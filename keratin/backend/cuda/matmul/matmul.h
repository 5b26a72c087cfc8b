#pragma once

#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/plan/backend.h"

namespace keratin::cuda {

// The kernel of a matmul and what is fused to it: the fastest of cuBLASLt and the kernels of our
// own, or cuBLASLt's where the results must not depend on times. nullptr where no candidate can be
// made.
std::unique_ptr<Kernel> make_fastest_matmul(const Node& node, const MatmulJob& job,
                                            const KernelOptions& options);
// cuBLASLt's kernel; nullptr where it has no algorithm.
std::unique_ptr<Kernel> make_cublas(const Node& node, const MatmulJob& job, bool tf32);

// The `make` of a fused matmul, for tests of the candidates.
Offer make_fused_matmul(const Node& node, const KernelOptions& options);
// The same of a matmul with a sum, and why it is not made.
Offer make_matmul_with_sum(const Node& node, const KernelOptions& options);
std::optional<std::string> refuses_matmul_with_sum(const Node& node);

}  // namespace keratin::cuda

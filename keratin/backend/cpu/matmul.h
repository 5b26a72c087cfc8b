#pragma once

#include "keratin/backend/cpu/tile/gemm.h"
#include "keratin/plan/backend.h"

namespace keratin::cpu {

// The product that a matmul node asks for.
GemmDesc describe_matmul(const Node& matmul);

Offer make_matmul(const Node& node, const KernelOptions& options);

// Threads worth using for so much arithmetic: one more costs about as much as 60 KFLOP take.
int useful_threads(double flops, int threads);

}  // namespace keratin::cpu

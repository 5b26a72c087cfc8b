#pragma once

#include "keratin/backend/cpu/tile/gemm.h"
#include "keratin/plan/backend.h"

namespace keratin::cpu {

// The steps along the axes of an operand or of the result.
struct MatmulSteps {
  Dims a, b, c;
};

// The product that a matmul node asks for, of arrays without gaps or with these steps.
GemmDesc describe_matmul(const Node& matmul);
GemmDesc describe_matmul(const Node& matmul, const MatmulSteps& steps);

Offer make_matmul(const Node& node, const KernelOptions& options);

// Threads worth using for so much arithmetic: one more costs about as much as 60 KFLOP take.
int useful_threads(double flops, int threads);

}  // namespace keratin::cpu

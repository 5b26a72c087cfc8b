#pragma once

#include "keratin/backend/cpu/tile/matmul.h"
#include "keratin/plan/kernel.h"

namespace keratin::cpu {

// The strides of the operands and of the result.
struct MatmulStrides {
  Dims a, b, c;
};

// The matmul of a node, of arrays without gaps or with these strides.
MatmulDesc describe_matmul(const Node& matmul);
MatmulDesc describe_matmul(const Node& matmul, const MatmulStrides& strides);

// Threads worth using for this much arithmetic: one more costs as much as about 60 KFLOP.
int useful_threads(double flops, int threads);

}  // namespace keratin::cpu

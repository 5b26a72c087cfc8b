#pragma once

#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/plan/backend.h"

namespace keratin::cuda {

// Matrix products by cuBLASLt; nullptr where its layouts do not reach (integers, batches that are
// broadcast in part), and for what it refuses.
std::unique_ptr<Kernel> make_matmul(const Node& node, const KernelOptions& options);

// The same of a fused node that cuBLASLt does in one go; see product.h.
bool claims_epilogue(const Node& node);
std::unique_ptr<Kernel> make_epilogue(const Node& node, const KernelOptions& options);

// What such nodes are run by: the fastest of all ways, or cuBLASLt in any case, nullptr where it
// knows no such product.
std::unique_ptr<Kernel> make_product(const Node& node, const Product& product,
                                     const KernelOptions& options);
std::unique_ptr<Kernel> make_cublas(const Node& node, const Product& product, bool tf32);

// matmul_sum.cpp: a product and the sum of what it reads or makes.
bool claims_summed(const Node& node);
std::unique_ptr<Kernel> make_summed(const Node& node, const KernelOptions& options);

}  // namespace keratin::cuda

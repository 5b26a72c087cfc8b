#pragma once

#include "keratin/backend/cuda/source_kernel.h"

namespace keratin::cuda {

// The records of this backend, best first.
std::span<const CudaKernel* const> kernels();

}  // namespace keratin::cuda

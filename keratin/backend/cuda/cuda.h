#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Runs programs on NVIDIA GPUs: kernels whose source NVRTC compiles for each node, matmuls by
// cuBLASLt, convolutions by cuDNN. The driver and the libraries are opened when first needed; a
// build and a start need nothing of CUDA.
const Backend& cuda_backend();

namespace cuda {

// The number of GPUs that can be used; 0 where there is none, for the reason that
// `why_no_device` gives.
int device_count();
const std::string& why_no_device();

}  // namespace cuda
}  // namespace keratin

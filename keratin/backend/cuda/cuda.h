#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Runs programs on NVIDIA GPUs: kernels written as text for each node and compiled by NVRTC, matrix
// products by cuBLASLt. The driver and the libraries are opened when first needed; nothing of CUDA
// is needed to build or to start.
const Backend& cuda_backend();

namespace cuda {

// How many GPUs can be used; 0 when a library is missing, for the reason that follows.
int device_count();
const std::string& why_no_device();

}  // namespace cuda
}  // namespace keratin

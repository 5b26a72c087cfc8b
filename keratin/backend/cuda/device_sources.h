#pragma once

#include <span>

namespace keratin::cuda {

// A file that NVRTC reads, embedded in the library by CMake.
struct DeviceSource {
  const char* path;  // as #include has it: "keratin/backend/cuda/kernels/rows.cu"
  const char* code;
};

// All of kernels/*.cu, and the headers that host and device share.
std::span<const DeviceSource> device_sources();

}  // namespace keratin::cuda

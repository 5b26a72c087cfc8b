#pragma once

#include "keratin/base/export.h"
#include "keratin/tensor/device.h"

namespace keratin {

// What a device's memory holds: values of variables, working memory of programs, and, on cpu:0,
// all other tensors. Bytes; memory that somebody else owns (a mapped file) does not count.
struct MemoryUse {
  size_t used = 0;
  size_t peak = 0;  // the most so far, since `reset_memory_peak`
  std::optional<size_t> limit = {};
};

KERATIN_API MemoryUse memory_use(Device device);
KERATIN_API void reset_memory_peak(Device device);

// From now on the device has so much memory; nothing takes the limit away. Asking for more is a
// BackendError, also on a machine that has it: programs can be tried on small devices.
KERATIN_API void set_memory_limit(Device device, std::optional<size_t> bytes);

namespace detail {

// Books an allocation, or throws BackendError; and the end of one. Buffer does both.
KERATIN_API void charge_memory(Device device, size_t bytes);
KERATIN_API void release_memory(Device device, size_t bytes) noexcept;

}  // namespace detail

}  // namespace keratin

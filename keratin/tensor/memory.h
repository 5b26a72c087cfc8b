#pragma once

#include "keratin/tensor/device.h"

#pragma GCC visibility push(default)

namespace keratin {

// What a device's memory holds: values of variables, working memory of programs, and, on cpu:0,
// all other tensors. Bytes; memory that somebody else owns (a mapped file) does not count.
struct MemoryUse {
  size_t used = 0;
  size_t peak = 0;  // the most so far, since `reset_memory_peak`
  std::optional<size_t> limit = {};
};

MemoryUse memory_use(Device device);
void reset_memory_peak(Device device);

// From now on the device has so much memory; nothing takes the limit away. Asking for more is a
// BackendError, also on a machine that has it: programs can be tried on small devices.
void set_memory_limit(Device device, std::optional<size_t> bytes);

// Books an allocation, or throws BackendError; and the end of one. Buffer does both.
void charge_memory(Device device, size_t bytes);
void release_memory(Device device, size_t bytes) noexcept;

}  // namespace keratin

#pragma GCC visibility pop

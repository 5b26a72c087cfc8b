#pragma once

#include <string_view>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/memory.h"

namespace keratin {

// Where programs can run: cpu:0, further logical CPU devices, GPUs.
KERATIN_API std::vector<Device> devices();
KERATIN_API std::vector<Device> devices(Device::Kind kind);

// Sets the number of devices of a kind, for the whole process. "cpu" splits the processor: a
// program on n devices gives each an n-th of its threads. "gpu" creates n virtual GPUs, backed by
// the machine's GPUs or, if it has none, by CPU threads, so that programs for several GPUs can be
// tested on any machine. Nothing else creates virtual devices.
KERATIN_API void set_logical_devices(std::string_view kind, int count);

// While the result lives, layers and variables that this thread makes are placed on the device,
// which must exist: const auto on_gpu = device_scope("gpu:0");
[[nodiscard]] KERATIN_API DeviceScope device_scope(Device device);
[[nodiscard]] inline DeviceScope device_scope(std::string_view name) {
  return device_scope(Device(name));
}

}  // namespace keratin

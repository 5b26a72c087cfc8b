#pragma once

#include <string_view>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/known_devices.h"
#include "keratin/tensor/memory.h"

namespace keratin {

// Where programs can run: cpu:0, further logical CPU devices, GPUs.
KERATIN_API std::vector<Device> devices();
KERATIN_API std::vector<Device> devices(Device::Kind kind);

// How many devices of a kind there are, until the program says otherwise. "cpu" splits the
// processor: a program on n devices gives each an n-th of its threads. "gpu" shares the GPUs of the
// machine out among more names; where there is none, CPU devices answer to the names gpu:0, gpu:1,
// …, so that programs for several GPUs can be tried and tested on any machine; this happens here
// and nowhere else.
KERATIN_API void set_logical_devices(std::string_view kind, int count);

// While the result lives, layers and variables that this thread makes live on the device, which
// must be there: const auto on_gpu = device_scope("gpu:0");
[[nodiscard]] KERATIN_API DeviceScope device_scope(Device device);
[[nodiscard]] inline DeviceScope device_scope(std::string_view name) {
  return device_scope(Device(name));
}

}  // namespace keratin

#include "keratin/engine/devices.h"

#include <atomic>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/base/text.h"
#include "keratin/tensor/known_devices.h"

namespace keratin {
namespace {

std::atomic<int>& count_of(Device::Kind kind) {
  static std::atomic<int> cpus = 1;
  if (kind == Device::Kind::cpu) return cpus;
  // Counted at the first call, because a driver takes some time to start.
  static std::atomic<int> gpus = cuda::device_count();
  return gpus;
}

}  // namespace

std::vector<Device> devices(Device::Kind kind) {
  std::vector<Device> all;
  for (int i = 0; i < count_of(kind); ++i) all.push_back({kind, static_cast<int16_t>(i)});
  return all;
}

std::vector<Device> devices() {
  std::vector<Device> all = devices(Device::Kind::cpu);
  for (const Device gpu : devices(Device::Kind::gpu)) all.push_back(gpu);
  return all;
}

void set_logical_devices(std::string_view kind, int count) {
  constexpr int max_count = 1024;
  require(kind == "cpu" || kind == "gpu",
          "set_logical_devices: the kind must be 'cpu' or 'gpu', got '", kind, "'");
  const int min_count = kind == "cpu" ? 1 : 0;
  require(count >= min_count && count <= max_count, "set_logical_devices: expected ", min_count,
          " to ", max_count, " devices of kind '", kind, "', got ", count);
  count_of(kind == "cpu" ? Device::Kind::cpu : Device::Kind::gpu) = count;
}

void require_device(Device device, std::string_view who) {
  if (device.index >= 0 && device.index < count_of(device.kind)) return;
  const std::vector<Device> here = devices();
  fail(who, ": there is no device ", device, "; there are ", here.size(), ", the last is ",
       here.back());
}

DeviceScope device_scope(Device device) {
  require_device(device, "device_scope");
  return DeviceScope(device);
}

}  // namespace keratin

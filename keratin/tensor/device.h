#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#include "keratin/base/export.h"

namespace keratin {

// Where a value lives and its op runs: "cpu:0", "gpu:1".
struct KERATIN_API Device {
  enum class Kind : uint8_t { cpu, gpu };
  Kind kind = Kind::cpu;
  int16_t index = 0;

  constexpr Device() = default;
  constexpr Device(Kind k, int16_t i) : kind(k), index(i) {}
  explicit Device(std::string_view name);  // as Keras writes them too: "/gpu:0", "GPU:0"

  bool operator==(const Device&) const = default;
  size_t hash() const { return static_cast<size_t>(kind) * 65536 + static_cast<size_t>(index); }
};

KERATIN_API std::optional<Device> parse_device(std::string_view text);
KERATIN_API std::ostream& operator<<(std::ostream& out, Device device);

// While it lives, layers and variables that this thread makes live on the device. Scopes may be
// nested; `device_scope` of engine/devices.h makes one for a device that is there.
class KERATIN_API DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  static std::optional<Device> current();  // nothing outside all scopes

 private:
  std::optional<Device> outer_;
};

}  // namespace keratin

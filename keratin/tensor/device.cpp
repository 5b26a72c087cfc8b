#include "keratin/tensor/device.h"

#include <charconv>

namespace keratin {

std::optional<Device> parse_device(std::string_view text) {
  Device device;
  if (text.starts_with("gpu:")) {
    device.kind = Device::Kind::gpu;
  } else if (!text.starts_with("cpu:")) {
    return std::nullopt;
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 4, end, device.index);
  if (error != std::errc() || rest != end || device.index < 0) return std::nullopt;
  return device;
}

std::ostream& operator<<(std::ostream& out, Device device) {
  return out << (device.kind == Device::Kind::cpu ? "cpu:" : "gpu:") << device.index;
}

}  // namespace keratin

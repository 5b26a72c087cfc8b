#include "keratin/tensor/device.h"

#include <charconv>

#include "keratin/base/text.h"

namespace keratin {
namespace {

thread_local std::optional<Device> current_device;

}  // namespace

Device::Device(std::string_view name) {
  std::string plain(name.substr(name.starts_with('/') ? 1 : 0));
  for (char& c : plain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::optional<Device> device = parse_device(plain);
  require(device.has_value(), "Device: expected a name like 'cpu:0' or 'gpu:1', got '", name, "'");
  *this = *device;
}

DeviceScope::DeviceScope(Device device) : outer_(current_device) { current_device = device; }
DeviceScope::~DeviceScope() { current_device = outer_; }
std::optional<Device> DeviceScope::current() { return current_device; }

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

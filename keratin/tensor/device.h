#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#pragma GCC visibility push(default)

namespace keratin {

// Where a value lives and its op runs: "cpu:0", "gpu:1".
struct Device {
  enum class Kind : uint8_t { cpu, gpu };
  Kind kind = Kind::cpu;
  int16_t index = 0;

  bool operator==(const Device&) const = default;
  size_t hash() const { return static_cast<size_t>(kind) * 65536 + static_cast<size_t>(index); }
};

std::optional<Device> parse_device(std::string_view text);
std::ostream& operator<<(std::ostream& out, Device device);

}  // namespace keratin

#pragma GCC visibility pop

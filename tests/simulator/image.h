#pragma once

#include <cstdint>

namespace keratin::simulator {

// The header of what the compiler gives to the driver, which does not get the size.
struct ImageHeader {
  uint64_t magic = 0x312d74756f2d6e68;
  uint64_t bytes = 0;
};

}  // namespace keratin::simulator

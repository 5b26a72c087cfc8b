#pragma once

#include <cstdint>

namespace keratin {

// The next seed of the stream that `set_random_seed` starts.
uint64_t next_seed();

}  // namespace keratin

#pragma once

#include <cstddef>

namespace keratin {

// How much a cache keeps.
struct CacheLimits {
  size_t entries = 128;
  size_t bytes = size_t{64} << 20;
  size_t always = 4;  // the newest ones, which stay however large they are
};

}  // namespace keratin

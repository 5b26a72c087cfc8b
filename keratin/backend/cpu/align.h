#pragma once

namespace keratin::cpu {

// Rounded up to whole lines of the cache.
template <class Integer>
constexpr Integer aligned(Integer bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace keratin::cpu

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "keratin/base/fields.h"

namespace keratin::detail {

// Mixes one more value into a running hash (a 64-bit multiply and fold).
inline size_t mix(size_t seed, size_t value) {
  const unsigned __int128 product = static_cast<unsigned __int128>(seed ^ 0x9e3779b97f4a7c15ULL) *
                                    (value ^ 0xd6e8feb86659fd93ULL);
  return static_cast<size_t>(product) ^ static_cast<size_t>(product >> 64);
}

template <class T>
size_t hash_of(const T& value);

template <class T>
size_t hash_of(const std::vector<T>& values) {
  size_t seed = values.size();
  for (const auto& value : values) seed = mix(seed, hash_of<T>(value));
  return seed;
}

// Structs with a field list, types with their own hash() and what std::hash knows.
template <class T>
size_t hash_of(const T& value) {
  if constexpr (HasFields<T>) {
    size_t seed = 0;
    for_each_field(value, [&](std::string_view, const auto& f) { seed = mix(seed, hash_of(f)); });
    return seed;
  } else if constexpr (requires { value.hash(); }) {
    return value.hash();
  } else {
    return std::hash<T>{}(value);
  }
}

}  // namespace keratin::detail

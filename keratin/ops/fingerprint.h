#pragma once

#include <cstdint>
#include <string_view>

// The hashes of strings that TensorFlow uses for buckets, with the same bits on every machine.
namespace keratin::ops {

// FarmHash Fingerprint64.
uint64_t fingerprint64(std::string_view s);
// Two fingerprints in one, where the order matters.
uint64_t joined_fingerprints(uint64_t first, uint64_t second);

struct HashKey {
  uint64_t low = 0, high = 0;
};
// SipHash-2-4, a hash that nobody can foresee without the key.
uint64_t siphash(HashKey key, std::string_view s);

}  // namespace keratin::ops

#pragma once

#include <cstdint>

namespace keratin {

// Philox4x32-10, a counter-based generator (Salmon et al., 2011): ten rounds turn a 128-bit counter
// and a 64-bit key into four 32-bit words. Here the upper half of the counter is zero.
struct PhiloxBlock {
  uint32_t word[4];
};

inline constexpr uint32_t philox_multiplier[2] = {0xd2511f53u, 0xcd9e8d57u};
inline constexpr uint32_t philox_key_step[2] = {0x9e3779b9u, 0xbb67ae85u};
inline constexpr int philox_rounds = 10;

// (c0, c1, c2, c3) -> (hi(m1 c2) ^ c1 ^ k0, lo(m1 c2), hi(m0 c0) ^ c3 ^ k1, lo(m0 c0)), after which
// each half of the key grows by a constant.
constexpr PhiloxBlock philox_rounds_of(PhiloxBlock c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < philox_rounds; ++round) {
    const uint64_t a = uint64_t{philox_multiplier[0]} * c.word[0];
    const uint64_t b = uint64_t{philox_multiplier[1]} * c.word[2];
    c = {{static_cast<uint32_t>(b >> 32) ^ c.word[1] ^ key0, static_cast<uint32_t>(b),
          static_cast<uint32_t>(a >> 32) ^ c.word[3] ^ key1, static_cast<uint32_t>(a)}};
    key0 += philox_key_step[0];
    key1 += philox_key_step[1];
  }
  return c;
}

constexpr PhiloxBlock philox_block(uint64_t seed, uint64_t counter) {
  return philox_rounds_of(
      {{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0}},
      static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

// Word number `index` of the stream of a seed: four words per block.
constexpr uint32_t philox_bits(uint64_t seed, uint64_t index) {
  return philox_block(seed, index / 4).word[index % 4];
}

}  // namespace keratin

// Random numbers.
#pragma once

namespace keratin::random {

// `numbers` words from number key[1] of the stream of seed key[0]. A thread has one block of the
// generator, four words. A key that begins in the middle of a block is rare: then each word is
// computed alone.
template <int64_t numbers, class Index>
void bits(Index count, const int64_t* key, int32_t* y) {
  for_each_element(count, [&](Index i) {
    const uint64_t seed = key[0], first = key[1];
    const bool whole = first % 4 == 0;
    PhiloxBlock block = {};
    if (whole) block = philox_block(seed, first / 4 + uint64_t(i));
    for (int e = 0; e < 4 && 4 * i + e < Index(numbers); ++e)
      y[4 * i + e] = whole ? block.word[e] : philox_bits(seed, first + uint64_t(4 * i + e));
  });
}

}  // namespace keratin::random

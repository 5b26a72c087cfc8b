#include "keratin/backend/cpu/kernels/random.h"

#include "keratin/backend/cpu/kernels/level.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/ops/philox.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t batch = 16;  // blocks made side by side, one per lane

// The words of `batch` blocks in a row, written as plain loops over lanes that vectorise.
[[gnu::noinline]] void make_blocks(uint32_t* __restrict out, uint64_t counter, uint64_t seed) {
  uint32_t c0[batch], c1[batch], c2[batch] = {}, c3[batch] = {};
  for (int64_t i = 0; i < batch; ++i) {
    const uint64_t at = counter + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(at);
    c1[i] = static_cast<uint32_t>(at >> 32);
  }
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    for (int64_t i = 0; i < batch; ++i) {
      const uint64_t a = uint64_t{philox_multiplier[0]} * c0[i];
      const uint64_t b = uint64_t{philox_multiplier[1]} * c2[i];
      c0[i] = static_cast<uint32_t>(b >> 32) ^ c1[i] ^ key0;
      c1[i] = static_cast<uint32_t>(b);
      c2[i] = static_cast<uint32_t>(a >> 32) ^ c3[i] ^ key1;
      c3[i] = static_cast<uint32_t>(a);
    }
    key0 += philox_key_step[0];
    key1 += philox_key_step[1];
  }
  for (int64_t i = 0; i < batch; ++i) {
    out[4 * i] = c0[i];
    out[4 * i + 1] = c1[i];
    out[4 * i + 2] = c2[i];
    out[4 * i + 3] = c3[i];
  }
}

// Words [begin, end) of the stream. Ends that are not whole batches go through a buffer.
void make_words(uint32_t* out, uint64_t begin, uint64_t end, uint64_t seed) {
  constexpr uint64_t words = 4 * batch;
  for (uint64_t at = begin; at < end;) {
    const uint64_t skip = at % 4, n = std::min(words - skip, end - at);
    if (n == words) {
      make_blocks(out, at / 4, seed);
    } else {
      uint32_t buffer[words];
      make_blocks(buffer, at / 4, seed);
      std::copy_n(buffer + skip, n, out);
    }
    out += n;
    at += n;
  }
}

void bits(const RandomBitsArgs& a) {
  parallel_for(a.threads, a.count, 4096, [&](int64_t begin, int64_t end) {
    make_words(a.out + begin, a.offset + static_cast<uint64_t>(begin),
               a.offset + static_cast<uint64_t>(end), a.seed);
  });
}

}  // namespace

void add_random(RandomKernels& k) { k = {bits}; }

}  // namespace keratin::cpu::KERATIN_LEVEL

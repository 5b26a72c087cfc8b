#include "keratin/backend/cpu/levels/random.h"

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/ops/philox.h"

// GCC 12 takes the don't-care operand of its own AVX-512 intrinsics for an uninitialised read.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

// One block per lane.
constexpr int64_t batch = lanes<uint32_t>;

typedef uint64_t Products [[gnu::vector_size(vector_bytes)]];

// Multiplies the even lanes into 64 bits.
[[gnu::always_inline]] inline Products multiply_even(VecU a, VecU b) {
#if defined(__AVX512F__)
  return (Products)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Products)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Products)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (bits_as<Products>(a) & 0xffffffffu) * (bits_as<Products>(b) & 0xffffffffu);
#endif
}

struct Words {
  VecU high, low;
};

[[gnu::always_inline]] inline Words multiply_wide(VecU a, uint32_t b) {
  const VecU factor = splat(b);
  const Products even = multiply_even(a, factor);
  const Products odd = multiply_even(bits_as<VecU>(bits_as<Products>(a) >> 32), factor);
  constexpr uint64_t lower = 0xffffffffu;
  return {bits_as<VecU>((even >> 32) | (odd & ~lower)),
          bits_as<VecU>((even & lower) | (odd << 32))};
}

// The words of `batch` blocks in a row.
[[gnu::noinline]] void make_blocks(uint32_t* out, uint64_t counter, uint64_t seed) {
  uint32_t low[batch], high[batch];
  for (int64_t i = 0; i < batch; ++i) {
    const uint64_t at = counter + static_cast<uint64_t>(i);
    low[i] = static_cast<uint32_t>(at);
    high[i] = static_cast<uint32_t>(at >> 32);
  }
  VecU c0 = load(low), c1 = load(high), c2{}, c3{};
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    const Words a = multiply_wide(c0, philox_multiplier[0]);
    const Words b = multiply_wide(c2, philox_multiplier[1]);
    c0 = b.high ^ c1 ^ key0;
    c1 = b.low;
    c2 = a.high ^ c3 ^ key1;
    c3 = a.low;
    key0 += philox_key_step[0];
    key1 += philox_key_step[1];
  }
  uint32_t word[4][batch];
  store(word[0], c0);
  store(word[1], c1);
  store(word[2], c2);
  store(word[3], c3);
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t k = 0; k < 4; ++k) out[4 * i + k] = word[k][i];
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

constexpr RandomRoutines random_routines() {
  RandomRoutines routines{};
  routines = {bits};
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const RandomRoutines RandomRoutines::KERATIN_LEVEL = KERATIN_LEVEL::random_routines();
}  // namespace keratin::cpu

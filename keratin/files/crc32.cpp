// CRC-32 of zip files. Every byte of a model is checked when it is opened, so the checksum must be
// faster than the disk: on CPUs with PCLMUL, 64 bytes are folded at a time.
#include <zlib.h>

#include "keratin/files/compression.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace keratin::files {
namespace {

uint32_t by_zlib(Bytes bytes, uint32_t before) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)

// x^n mod P, with the coefficient of x^0 in the highest bit, as the CRC has it. Shifted left by one
// bit, because the product of two bit-reversed polynomials comes out one bit too low.
constexpr uint64_t power(int n) {
  constexpr uint32_t polynomial = 0xedb88320;
  uint32_t x = uint32_t{1} << 31;
  for (int i = 0; i < n; ++i) x = (x >> 1) ^ ((x & 1) != 0 ? polynomial : 0);
  return uint64_t{x} << 1;
}

constexpr size_t step = 64;

// A message is a polynomial whose first bytes have the highest powers. Multiplying 64 bytes by
// x^512 moves them onto the next 64 bytes, and the sum of both has the remainder of the two in a
// row. In the end 64 bytes and a tail remain, with the same CRC as the whole message.
[[gnu::target("pclmul,sse4.1")]] uint32_t by_folding(Bytes bytes, uint32_t before) {
  const __m128i factors = _mm_set_epi64x(power(512 - 32), power(512 + 32));
  const auto* at = reinterpret_cast<const __m128i*>(bytes.data());
  __m128i sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = _mm_loadu_si128(at + i);
  sums[0] = _mm_xor_si128(sums[0], _mm_cvtsi32_si128(static_cast<int>(~before)));
  size_t done = step;
  for (; bytes.size() - done >= step; done += step) {
    at += 4;
    for (int i = 0; i < 4; ++i) {
      const __m128i low = _mm_clmulepi64_si128(sums[i], factors, 0x00);
      const __m128i high = _mm_clmulepi64_si128(sums[i], factors, 0x11);
      sums[i] = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128(at + i));
    }
  }
  constexpr uint32_t nothing_before = 0xffffffff;  // zlib inverts it to 0
  return by_zlib(bytes.subspan(done),
                 by_zlib({reinterpret_cast<const std::byte*>(sums), step}, nothing_before));
}

#endif

}  // namespace

uint32_t crc32(Bytes bytes, uint32_t before) {
#if defined(__x86_64__)
  if (bytes.size() >= step && __builtin_cpu_supports("pclmul") != 0)
    return by_folding(bytes, before);
#endif
  return by_zlib(bytes, before);
}

}  // namespace keratin::files

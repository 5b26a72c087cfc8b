#include <bit>

#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

uint32_t byte_at(Bytes bytes, size_t i) { return std::to_integer<uint32_t>(bytes[i]); }

// Up to four bytes from `at` as a little-endian number.
uint32_t word_at(Bytes bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i) word |= byte_at(bytes, at + i) << (8 * i);
  return word;
}

}  // namespace

// Bob Jenkins's lookup3.c, May 2006, public domain: `hashlittle` with the initial value 0.
uint32_t lookup3(Bytes bytes) {
  using std::rotl;
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  if (bytes.empty()) return c;
  size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word_at(bytes, at), b += word_at(bytes, at + 4), c += word_at(bytes, at + 8);
    a -= c, a ^= rotl(c, 4), c += b;
    b -= a, b ^= rotl(a, 6), a += c;
    c -= b, c ^= rotl(b, 8), b += a;
    a -= c, a ^= rotl(c, 16), c += b;
    b -= a, b ^= rotl(a, 19), a += c;
    c -= b, c ^= rotl(b, 4), b += a;
  }
  a += word_at(bytes, at), b += word_at(bytes, at + 4), c += word_at(bytes, at + 8);
  c ^= b, c -= rotl(b, 14);
  a ^= c, a -= rotl(c, 11);
  b ^= a, b -= rotl(a, 25);
  c ^= b, c -= rotl(b, 16);
  a ^= c, a -= rotl(c, 4);
  b ^= a, b -= rotl(a, 14);
  c ^= b, c -= rotl(b, 24);
  return c;
}

// Fletcher's checksum over big-endian words of 16 bits. The sums are modulo 65535, with carries
// added back, so a sum of 65535 stays 65535 and does not become 0.
uint32_t fletcher32(Bytes bytes) {
  const auto fold = [](uint32_t x) { return (x & 0xffff) + (x >> 16); };
  uint32_t low = 0, high = 0;
  size_t pending = 0;
  for (size_t at = 0; at < bytes.size(); at += 2) {
    low += byte_at(bytes, at) << 8;
    if (at + 1 < bytes.size()) low += byte_at(bytes, at + 1);
    high += low;
    if (++pending == 360) low = fold(low), high = fold(high), pending = 0;
  }
  low = fold(fold(low));
  high = fold(fold(high));
  return (high << 16) | low;
}

}  // namespace keratin::hdf5

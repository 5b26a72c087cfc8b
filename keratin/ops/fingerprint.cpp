#include "keratin/ops/fingerprint.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace keratin::ops {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

template <class T = uint64_t>
uint64_t word(std::string_view s, size_t at) {
  T value;
  std::memcpy(&value, s.data() + at, sizeof value);
  return value;
}
// Counted from the end: the word that begins `back` bytes before it.
uint64_t last_word(std::string_view s, size_t back) { return word(s, s.size() - back); }

uint64_t fold(uint64_t x) { return x ^ (x >> 47); }

uint64_t mixed(uint64_t u, uint64_t v, uint64_t factor) {
  return fold((v ^ fold((u ^ v) * factor)) * factor) * factor;
}

uint64_t of_up_to_16(std::string_view s) {
  const size_t size = s.size();
  const uint64_t factor = k2 + size * 2;
  if (size >= 8) {
    const uint64_t a = word(s, 0) + k2, b = last_word(s, 8);
    return mixed(std::rotr(b, 37) * factor + a, (std::rotr(a, 25) + b) * factor, factor);
  }
  if (size >= 4)
    return mixed(size + (word<uint32_t>(s, 0) << 3), word<uint32_t>(s, size - 4), factor);
  if (size == 0) return k2;
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<uint8_t>(s[at])); };
  const uint32_t y = byte(0) + (byte(size / 2) << 8);
  const uint32_t z = static_cast<uint32_t>(size) + (byte(size - 1) << 2);
  return fold(y * k2 ^ z * k0) * k2;
}

uint64_t of_up_to_32(std::string_view s) {
  const uint64_t factor = k2 + s.size() * 2;
  const uint64_t a = word(s, 0) * k1, b = word(s, 8);
  const uint64_t c = last_word(s, 8) * factor, d = last_word(s, 16) * k2;
  return mixed(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c, factor);
}

uint64_t of_up_to_64(std::string_view s) {
  const uint64_t factor = k2 + s.size() * 2;
  const uint64_t a = word(s, 0) * k2, b = word(s, 8);
  const uint64_t c = last_word(s, 8) * factor, d = last_word(s, 16) * k2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = mixed(y, a + std::rotr(b + k2, 18) + c, factor);
  const uint64_t e = word(s, 16) * factor, f = word(s, 24);
  const uint64_t g = (y + last_word(s, 32)) * factor, h = (z + last_word(s, 24)) * factor;
  return mixed(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, factor);
}

// The state of a hash over blocks of 64 bytes.
struct Blocks {
  using Pair = std::pair<uint64_t, uint64_t>;

  uint64_t x, y, z;
  Pair v = {0, 0}, w = {0, 0};

  static Pair weak(std::string_view s, size_t at, uint64_t a, uint64_t b) {
    a += word(s, at);
    b = std::rotr(b + a + word(s, at + 24), 21);
    const uint64_t c = a;
    a += word(s, at + 8) + word(s, at + 16);
    return {a + word(s, at + 24), b + std::rotr(a, 44) + c};
  }

  void add(std::string_view s, size_t at, uint64_t factor, uint64_t weight) {
    x = std::rotr(x + y + v.first + word(s, at + 8), 37) * factor;
    y = std::rotr(y + v.second + word(s, at + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + word(s, at + 40);
    z = std::rotr(z + w.first, 33) * factor;
    v = weak(s, at, v.second * factor, x + w.first);
    w = weak(s, at + 32, z + w.second, y + word(s, at + 16));
    std::swap(z, x);
  }
};

uint64_t of_many(std::string_view s) {
  constexpr uint64_t seed = 81;
  const uint64_t y = seed * k1 + 113;
  Blocks blocks{.x = seed * k2 + word(s, 0), .y = y, .z = fold(y * k2 + 113) * k2};
  const size_t rest = (s.size() - 1) % 64;
  for (size_t at = 0; at + rest + 1 < s.size(); at += 64) blocks.add(s, at, k1, 1);
  const uint64_t factor = k1 + ((blocks.z & 0xff) << 1);
  Blocks::Pair &v = blocks.v, &w = blocks.w;
  w.first += rest;
  v.first += w.first;
  w.first += v.first;
  blocks.add(s, s.size() - 64, factor, 9);
  return mixed(mixed(v.first, w.first, factor) + fold(blocks.y) * k0 + blocks.z,
               mixed(v.second, w.second, factor) + blocks.x, factor);
}

// One round of SipHash.
void sip_round(std::array<uint64_t, 4>& v) {
  v[0] += v[1];
  v[2] += v[3];
  v[1] = std::rotl(v[1], 13) ^ v[0];
  v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[1];
  v[0] += v[3];
  v[1] = std::rotl(v[1], 17) ^ v[2];
  v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] = std::rotl(v[2], 32);
}

void sip_add(std::array<uint64_t, 4>& v, uint64_t message) {
  v[3] ^= message;
  for (int i = 0; i < 2; ++i) sip_round(v);
  v[0] ^= message;
}

}  // namespace

uint64_t fingerprint64(std::string_view s) {
  if (s.size() <= 16) return of_up_to_16(s);
  if (s.size() <= 32) return of_up_to_32(s);
  if (s.size() <= 64) return of_up_to_64(s);
  return of_many(s);
}

uint64_t joined_fingerprints(uint64_t first, uint64_t second) {
  constexpr uint64_t factor = 0xc6a4a7935bd1e995;
  uint64_t result = first ^ factor;
  result ^= fold(second * factor) * factor;
  result *= factor;
  return fold(fold(result) * factor);
}

uint64_t siphash(HashKey key, std::string_view s) {
  // The letters of "somepseudorandomlygeneratedbytes".
  std::array<uint64_t, 4> v = {key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d,
                               key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573};
  const size_t whole = s.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) sip_add(v, word(s, at));
  uint64_t last = static_cast<uint64_t>(s.size()) << 56;
  for (size_t i = whole; i < s.size(); ++i)
    last |= static_cast<uint64_t>(static_cast<uint8_t>(s[i])) << (8 * (i - whole));
  sip_add(v, last);
  v[2] ^= 0xff;
  for (int i = 0; i < 4; ++i) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

}  // namespace keratin::ops

// What kernels ask of the threads around them, and instructions that are more than plain C++.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "launch_threads.h"
#include "mode.h"
#include "numbers.h"

namespace keratin::simulator {

namespace {

constexpr unsigned first_shared_address = 1024;  // the system's own memory comes before

void touch(const void* address, unsigned long bytes, Touch how) {
  static const bool is_checked = is_set("checked");
  if (is_checked) launch->touch(address, bytes, how);
}

void meet_block() {
  Thread& self = launch->self();
  launch->meet(self.block->meeting);
  ++self.passed.of_block;
}
void meet_cluster(bool in_order) {
  Thread& self = launch->self();
  launch->meet(launch->cluster_meeting());
  ++self.cluster_meetings;
  if (!in_order) return;
  ++self.passed.of_cluster;
  ++self.passed.of_block;
}

const char* meet_warp(unsigned mask, const char* what, const void* mine, unsigned bytes) {
  Thread& self = launch->self();
  Warp& warp = *self.warp;
  if (mask != ~0U) launch->fail("only whole warps can meet here");
  if ((mask & warp.ended) != 0) launch->fail(std::string(what) + " names lanes that have ended");
  const bool first = warp.meeting.waiting.empty();
  if (!first && warp.what != what && std::strcmp(warp.what, what) != 0)
    launch->fail(std::string("a warp meets at ") + warp.what + " and at " + what);
  const unsigned turn = first ? warp.turn ^ 1 : warp.turn;
  if (first) {
    warp.what = what;
    warp.turn = turn;
    warp.met[turn] = 0;
    warp.has_multiplied[turn] = false;
  }
  warp.met[turn] |= 1U << self.lane;
  std::memcpy(warp.slots[turn] + slot_bytes * self.lane, mine, bytes);
  self.turn = turn;
  launch->meet(warp.meeting);
  if (std::strcmp(what, "syncwarp") == 0) ++self.passed.of_warp;  // others say nothing of memory
  return warp.slots[turn];
}

unsigned lanes_met() {
  const Thread& self = launch->self();
  return self.warp->met[self.turn];
}

char* at_shared(Block& block, unsigned address, unsigned bytes, Touch how) {
  const unsigned offset = address - first_shared_address;
  if (address < first_shared_address || offset + bytes > block.shared.size())
    launch->fail("an address is outside of shared memory");
  char* const slot = block.shared.data() + offset;
  touch(slot, bytes, how);
  return slot;
}

unsigned to_shared(const void* generic) {
  const std::vector<char>& shared = launch->self().block->shared;
  const auto offset = static_cast<const char*>(generic) - shared.data();
  if (offset < 0 || offset > static_cast<ptrdiff_t>(shared.size()))
    launch->fail("an address is not of shared memory");
  return static_cast<unsigned>(offset) + first_shared_address;
}

float load_of_cluster(unsigned address, unsigned rank) {
  if (rank >= launch->cluster_size()) launch->fail("the cluster has no such block");
  launch->read_block(launch->block(rank));
  float value;
  std::memcpy(&value, at_shared(launch->block(rank), address, sizeof value, Touch::read),
              sizeof value);
  return value;
}

// Lane 8 i + r gives where row r of matrix i begins, which has 8 rows of 8 numbers of 16 bits. A
// lane gets two neighbours of each matrix: of row lane / 4, or of column lane / 4.
void load_matrices(unsigned address, unsigned count, bool transposed, unsigned* words) {
  Block& block = *launch->self().block;
  if (address % 16 != 0) launch->fail("a row of a matrix begins at no multiple of 16 bytes");
  const char* slots = meet_warp(~0U, transposed ? "ldmatrix.trans" : "ldmatrix", &address, 4);
  const unsigned lane = launch->self().lane;
  for (unsigned i = 0; i < count; ++i) {
    uint16_t two[2];
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned major = lane / 4, minor = lane % 4 * 2 + e;
      const unsigned row = transposed ? minor : major, column = transposed ? major : minor;
      unsigned begin;
      std::memcpy(&begin, slots + slot_bytes * (8 * i + row), sizeof begin);
      std::memcpy(&two[e], at_shared(block, begin + 2 * column, 2, Touch::read), 2);
    }
    words[i] = two[0] | unsigned{two[1]} << 16;
  }
}

void fetch(unsigned to, const void* from, unsigned bytes, unsigned there) {
  Thread& self = launch->self();
  if (to % bytes != 0 || reinterpret_cast<uintptr_t>(from) % bytes != 0)
    launch->fail("what is fetched lies at no multiple of its size");
  if (self.fetches.empty()) self.fetches.emplace_back();
  if (there > 0) touch(from, there, Touch::read);
  self.fetches.back().push_back(
      {at_shared(*self.block, to, bytes, Touch::write), from, bytes, there});
}

void end_fetches() {
  auto& groups = launch->self().fetches;
  if (groups.empty()) groups.emplace_back();
  groups.emplace_back();
}

// As late as it may be.
void wait_for_fetches(unsigned groups_left) {
  auto& groups = launch->self().fetches;
  while (groups.size() > groups_left + 1) {
    for (const Fetch& f : groups.front()) {
      touch(f.to, f.bytes, Touch::write);
      std::memset(f.to, 0, f.bytes);
      std::memcpy(f.to, f.from, f.there);
    }
    groups.erase(groups.begin());
  }
}

// The factors of a tensor core instruction of a warp. Of a, 16 rows and `depth` columns, lane 4 r +
// p has rows r and r + 8 in words 0, 2 and 1, 3; of b, `depth` rows and 8 columns, it has column r
// in words 4 and 5. A word holds `per_word` neighbours of the depth, word p of four, and a second
// one behind the first four.
template <unsigned per_word, class Number>
void multiply_whole(const char* slots, float (&products)[16][8], Number number) {
  constexpr unsigned depth = 8 * per_word;
  double a[16][depth], b[depth][8];
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    unsigned words[6];
    std::memcpy(words, slots + slot_bytes * lane, sizeof words);
    const unsigned r = lane / 4, p = lane % 4;
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned e = 0; e < per_word; ++e) {
        const unsigned k = (4 * half + p) * per_word + e;
        a[r][k] = number(words[2 * half], e);
        a[r + 8][k] = number(words[2 * half + 1], e);
        b[k][r] = number(words[4 + half], e);
      }
  }
  for (unsigned row = 0; row < 16; ++row) {
    double totals[8] = {};  // of exact products, rounded once
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < 8; ++column) totals[column] += a[row][k] * b[k][column];
    std::copy_n(totals, 8, products[row]);
  }
}

// The first thread to run after all have met multiplies for all.
template <unsigned per_word, class Number>
void multiply(const char* what, float* sums, const unsigned* a, const unsigned* b, Number number) {
  const unsigned mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const char* slots = meet_warp(~0U, what, mine, sizeof mine);
  const Thread& self = launch->self();
  Warp& warp = *self.warp;
  auto& products = warp.products[self.turn];
  if (!warp.has_multiplied[self.turn]) multiply_whole<per_word>(slots, products, number);
  warp.has_multiplied[self.turn] = true;
  for (unsigned i = 0; i < 4; ++i)
    sums[i] += products[self.lane / 4 + 8 * (i / 2)][self.lane % 4 * 2 + i % 2];
}

void multiply_tf32(float* sums, const unsigned* a, const unsigned* b) {
  multiply<1>("mma.tf32", sums, a, b, [](unsigned word, unsigned) {
    word &= 0xffffe000U;  // it has no more bits
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  });
}
void multiply_f16(float* sums, const unsigned* a, const unsigned* b) {
  multiply<2>("mma.f16", sums, a, b,
              [](unsigned word, unsigned e) { return from_f16(uint16_t(word >> 16 * e)); });
}
void multiply_bf16(float* sums, const unsigned* a, const unsigned* b) {
  multiply<2>("mma.bf16", sums, a, b,
              [](unsigned word, unsigned e) { return from_bf16(uint16_t(word >> 16 * e)); });
}

// By Newton's steps on erf, or on erfc where that has more digits.
double erfinv(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? std::copysign(INFINITY, x) : NAN;
  const double left = 1 - std::abs(x), log = std::log(left * (2 - left));
  const double b = 2 / (M_PI * 0.147) + log / 2;
  double y = std::sqrt(std::sqrt(b * b - log / 0.147) - b);  // Winitzki's; good to 2e-3
  for (int step = 0; step < 4; ++step) {
    const double off = left < 0.5 ? left - std::erfc(y) : std::erf(y) - std::abs(x);
    const double newton = off / (2 / std::sqrt(M_PI) * std::exp(-y * y));
    y -= newton / (1 + y * newton);  // Halley's
  }
  return std::copysign(y, x);
}

}  // namespace

Runtime& runtime() {
  static Runtime all{
      .self = nullptr,
      .touch = touch,
      .meet_block = meet_block,
      .meet_cluster = meet_cluster,
      .meet_warp = meet_warp,
      .lanes_met = lanes_met,
      .to_shared = to_shared,
      .load_of_cluster = load_of_cluster,
      .load_matrices = load_matrices,
      .fetch = fetch,
      .end_fetches = end_fetches,
      .wait_for_fetches = wait_for_fetches,
      .multiply_tf32 = multiply_tf32,
      .multiply_f16 = multiply_f16,
      .multiply_bf16 = multiply_bf16,
      .to_f16 = [](float x) { return unsigned{to_f16(x)}; },
      .from_f16 = [](unsigned x) { return from_f16(static_cast<uint16_t>(x)); },
      .to_bf16 = [](float x) { return unsigned{to_bf16(x)}; },
      .to_tf32 = [](float x) { return to_tf32(x); },
      .erfinv = erfinv,
  };
  return all;
}

}  // namespace keratin::simulator

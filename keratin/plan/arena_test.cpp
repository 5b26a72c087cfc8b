#include "keratin/plan/arena.h"

#include <gtest/gtest.h>

#include <random>

#include "keratin/base/text.h"

namespace keratin {
namespace {

TEST(Arena, ReusesWhatWasReleasedAndJoinsNeighbours) {
  Arena arena;
  const size_t a = arena.allocate(64), b = arena.allocate(64), c = arena.allocate(64);
  EXPECT_EQ(arena.size(), 192);
  arena.release(a);
  arena.release(b);
  EXPECT_EQ(arena.allocate(128), a);
  EXPECT_EQ(arena.size(), 192);
  arena.release(c);
  EXPECT_EQ(arena.allocate(256), c) << "the free end should grow";
  EXPECT_EQ(arena.size(), c + 256);
}

TEST(Arena, TakesTheSmallestHoleThatFits) {
  Arena arena;
  const size_t big = arena.allocate(640), wall = arena.allocate(64), small = arena.allocate(128);
  arena.allocate(64);
  arena.release(big);
  arena.release(small);
  EXPECT_EQ(arena.allocate(100), small);
  EXPECT_NE(arena.allocate(64), wall);
}

TEST(Arena, GivesEmptyBlocksOffsetsOfTheirOwn) {
  Arena arena;
  EXPECT_NE(arena.allocate(0), arena.allocate(0));
}

TEST(Arena, ReportsAReleaseOfFreeMemoryAsInternalError) {
  Arena arena;
  const size_t a = arena.allocate(64);
  EXPECT_THROW(arena.release(a + 64), InternalError);
  arena.release(a);
  EXPECT_THROW(arena.release(a), InternalError);
}

TEST(Arena, BlocksNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Arena arena;
    std::map<size_t, size_t> live;  // offset -> bytes
    size_t in_use = 0, peak = 0;
    for (int i = 0; i < 2000; ++i) {
      if (live.empty() || random() % 5 < 3) {
        const size_t bytes = random() % 4 == 0 ? random() % 100000 : random() % 300;
        const size_t offset = arena.allocate(bytes);
        EXPECT_EQ(offset % Arena::alignment, 0);
        EXPECT_LE(offset + bytes, arena.size());
        const auto next = live.lower_bound(offset);
        if (next != live.end()) {
          EXPECT_LE(offset + bytes, next->first);
        }
        if (next != live.begin()) {
          const auto& [before, size] = *std::prev(next);
          EXPECT_LE(before + size, offset);
        }
        live[offset] = bytes;
        in_use += bytes;
        peak = std::max(peak, in_use);
      } else {
        auto victim = std::next(live.begin(), static_cast<int64_t>(random() % live.size()));
        arena.release(victim->first);
        in_use -= victim->second;
        live.erase(victim);
      }
    }
    EXPECT_LE(arena.size(), 2 * peak + 64 * 2000) << "too many holes";
    for (const auto& [offset, bytes] : live) arena.release(offset);
    EXPECT_EQ(arena.allocate(arena.size()), 0) << "released memory should be one piece";
  }
}

}  // namespace
}  // namespace keratin

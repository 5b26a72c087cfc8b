#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu {
namespace {

TEST(ParallelFor, CoversEveryItemOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const int64_t count : {0, 1, 5, 64, 1000}) {
      std::vector<int> seen(static_cast<size_t>(count));
      parallel_for(threads, count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(count), 1));
    }
  }
}

TEST(ParallelFor, RunsTinyWorkOnTheCallingThread) {
  const auto self = std::this_thread::get_id();
  int calls = 0;
  parallel_for(4, 100, 51, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(end - begin, 100);
  });
  EXPECT_EQ(calls, 1);
}

// Seen by every number of threads, also by one that gets no help.
TEST(ParallelFor, CutsChunksBySizeAlone) {
  const auto chunks_of = [](int threads) {
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> chunks;
    parallel_for(threads, 1000, 7, [&](int64_t begin, int64_t end) {
      const std::lock_guard lock(mutex);
      chunks.emplace(begin, end);
    });
    return chunks;
  };
  const auto two = chunks_of(2);
  EXPECT_EQ(two.size(), size_t{max_shared_chunks});
  EXPECT_EQ(chunks_of(5), two);
}

TEST(ParallelFor, GivesNoSlotToTwoChunksAtOnce) {
  std::array<std::atomic<int>, 3> users{};
  std::atomic<int> clashes = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    parallel_for(3, 100, 1, [&](int64_t, int64_t, int slot) {
      ASSERT_LT(slot, 3);
      if (users[static_cast<size_t>(slot)]++ != 0) ++clashes;
      --users[static_cast<size_t>(slot)];
    });
  }
  EXPECT_EQ(clashes, 0);
}

TEST(ParallelFor, FlushesDenormalsInTheWorkOnly) {
  volatile float tiny = 1e-38f;
  const unsigned before = _mm_getcsr();
  std::atomic<int> alive = 0;
  parallel_for(3, 3, 1, [&](int64_t, int64_t) { alive += tiny * 0.1f != 0; });
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(_mm_getcsr(), before);
  EXPECT_NE(tiny * 0.1f, 0);
}

TEST(FixedSplit, DependsOnTheAmountOfWorkAlone) {
  const FixedSplit split = fixed_split(1000, 100);
  EXPECT_EQ(split.chunks, 10);
  EXPECT_EQ(split.begin(0), 0);
  EXPECT_EQ(split.end(9), 1000);
  for (int64_t p = 0; p + 1 < split.chunks; ++p) EXPECT_EQ(split.end(p), split.begin(p + 1));
  EXPECT_EQ(fixed_split(10, 100).chunks, 1);
  EXPECT_EQ(fixed_split(1 << 30, 1).chunks, max_chunks);
}

}  // namespace
}  // namespace keratin::cpu

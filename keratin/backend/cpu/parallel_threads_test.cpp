#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
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

TEST(ParallelFor, ThrowsTheFailureOfTheLowestChunk) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      parallel_for(4, 8, 1, [](int64_t begin, int64_t) {
        if (begin >= 2) throw std::runtime_error(std::to_string(begin));
      });
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "2");
    }
  }
}

TEST(ParallelFor, FlushesDenormalsInWorkersOnly) {
  volatile float tiny = 1e-38f;
  const unsigned before = _mm_getcsr();
  std::atomic<int> alive = 0;
  parallel_for(3, 3, 1, [&](int64_t, int64_t) { alive += tiny * 0.1f != 0; });
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(_mm_getcsr(), before);
  EXPECT_NE(tiny * 0.1f, 0);
}

TEST(ParallelFor, ServesManyCallersAtOnce) {
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      std::vector<int64_t> data(1000);
      for (int repeat = 0; repeat < 20; ++repeat) {
        parallel_for(2, 1000, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) data[static_cast<size_t>(i)] += i;
        });
      }
      for (const int64_t v : data) total += v;
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(total, 3 * 20 * 499500);
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

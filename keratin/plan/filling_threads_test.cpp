#include "keratin/plan/filling.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace keratin {
namespace {

void expect_filled(size_t bytes, unsigned threads) {
  std::vector<uint8_t> from(bytes), to(bytes);
  std::iota(from.begin(), from.end(), uint8_t{3});
  std::vector<uint8_t> seen;
  const Filling::Copy copy = [&](size_t begin, size_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  };
  Filling filling(bytes, threads, copy);
  while (seen.size() < bytes) {
    const size_t there = filling.wait(seen.size());
    ASSERT_GT(there, seen.size());
    seen.insert(seen.end(), to.begin() + static_cast<int64_t>(seen.size()),
                to.begin() + static_cast<int64_t>(there));
  }
  EXPECT_EQ(seen, from) << bytes << ' ' << threads;
}

TEST(Filling, WhatIsThereIsRight) {
  for (const unsigned threads : {0U, 1U, 2U, 5U})
    for (const size_t bytes : {size_t{0}, size_t{1}, Filling::least_for_threads - 1,
                               Filling::least_for_threads, 7 * Filling::piece + 11})
      expect_filled(bytes, threads);
}

// Nobody waits to the end when sending fails.
TEST(Filling, MayBeLeft) {
  std::vector<uint8_t> to(Filling::least_for_threads);
  const Filling::Copy copy = [&](size_t begin, size_t end) {
    std::memset(to.data() + begin, 1, end - begin);
  };
  Filling filling(to.size(), 3, copy);
  EXPECT_GT(filling.wait(0), 0U);
}

}  // namespace
}  // namespace keratin

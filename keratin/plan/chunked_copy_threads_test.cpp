#include "keratin/plan/chunked_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace keratin {
namespace {

void expect_copied(size_t bytes, unsigned threads) {
  std::vector<uint8_t> from(bytes), to(bytes);
  std::iota(from.begin(), from.end(), uint8_t{3});
  std::vector<uint8_t> seen;
  const ChunkedCopy::Copy copy = [&](size_t begin, size_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  };
  ChunkedCopy chunked(bytes, threads, copy);
  while (seen.size() < bytes) {
    const size_t copied = chunked.wait(seen.size());
    ASSERT_GT(copied, seen.size());
    seen.insert(seen.end(), to.begin() + static_cast<int64_t>(seen.size()),
                to.begin() + static_cast<int64_t>(copied));
  }
  EXPECT_EQ(seen, from) << bytes << ' ' << threads;
}

TEST(ChunkedCopy, CopiesEveryByteBeforeWaitReturns) {
  for (const unsigned threads : {0U, 1U, 2U, 5U})
    for (const size_t bytes : {size_t{0}, size_t{1}, ChunkedCopy::min_for_threads - 1,
                               ChunkedCopy::min_for_threads, 7 * ChunkedCopy::chunk + 11})
      expect_copied(bytes, threads);
}

// Sending may fail before all chunks are copied.
TEST(ChunkedCopy, MayBeDestroyedEarly) {
  std::vector<uint8_t> to(ChunkedCopy::min_for_threads);
  const ChunkedCopy::Copy copy = [&](size_t begin, size_t end) {
    std::memset(to.data() + begin, 1, end - begin);
  };
  ChunkedCopy chunked(to.size(), 3, copy);
  EXPECT_GT(chunked.wait(0), 0U);
}

}  // namespace
}  // namespace keratin

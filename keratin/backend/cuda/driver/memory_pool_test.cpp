#include "keratin/backend/cuda/driver/memory_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace keratin::cuda {
namespace {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

// A device of some size, whose memory is addresses and nothing else.
struct Memory {
  size_t size = 1024 * MiB;
  std::map<void*, size_t> given = {};
  std::vector<void*> freed = {};
  int calls = 0;
  uintptr_t next = 4096;

  size_t used() const {
    size_t all = 0;
    for (const auto& [memory, bytes] : given) all += bytes;
    return all;
  }
  Pool::Source source() {
    return {.allocate = [this](size_t bytes) -> void* {
              ++calls;
              if (bytes > size - used()) return nullptr;
              void* made = reinterpret_cast<void*>(next);
              next += bytes;
              given[made] = bytes;
              return made;
            },
            .free =
                [this](void* memory) {
                  EXPECT_EQ(given.erase(memory), 1U) << "freed twice, or never given";
                  freed.push_back(memory);
                }};
  }
};

class PoolTest : public ::testing::Test {
 protected:
  Memory memory;
  Pool pool{memory.source(), 64 * MiB};

  // The sizes that the pool requests.
  size_t granted(size_t bytes) {
    const auto block = pool.take(bytes);
    return memory.given.at(block.get());
  }
};

TEST_F(PoolTest, HandsOutAgainWhatWasGivenBack) {
  auto block = pool.take(10000);
  void* const first = block.get();
  block = nullptr;
  EXPECT_TRUE(memory.freed.empty());
  block = pool.take(10000);
  EXPECT_EQ(block.get(), first);
  EXPECT_EQ(memory.calls, 1);
}

TEST_F(PoolTest, HandsNothingOutTwice) {
  auto one = pool.take(10000), other = pool.take(10000);
  EXPECT_NE(one.get(), other.get());
  const auto copy = one;
  one = nullptr;  // has another owner
  EXPECT_EQ(pool.kept_bytes(), 0U);
  const auto third = pool.take(10000);
  EXPECT_NE(third.get(), copy.get());
  EXPECT_EQ(memory.calls, 3);
}

TEST_F(PoolTest, RoundsUpByAnEighthOrOnePageAtMost) {
  EXPECT_EQ(granted(0), 512U);
  EXPECT_EQ(granted(1), 512U);
  EXPECT_EQ(granted(512), 512U);
  EXPECT_EQ(granted(513), 1024U);
  EXPECT_EQ(granted(8 * KiB), 8 * KiB);
  EXPECT_EQ(granted(8 * KiB + 1), 9 * KiB);
  EXPECT_EQ(granted(50 * MiB + 1), 52 * MiB);
  EXPECT_EQ(granted(900 * MiB), 900 * MiB);
}

TEST_F(PoolTest, SizesThatDifferALittleShareBlocks) {
  const void* const first = pool.take(9 * KiB).get();
  EXPECT_EQ(pool.take(8 * KiB + 1).get(), first);  // rounded to it
  EXPECT_EQ(pool.take(8 * KiB).get(), first);      // an eighth less
  EXPECT_NE(pool.take(7 * KiB).get(), first);
  EXPECT_NE(pool.take(10 * KiB).get(), first);
}

TEST_F(PoolTest, TakesTheSmallestThatFitsAndOfThoseTheLast) {
  auto large = pool.take(18 * KiB), old = pool.take(16 * KiB), young = pool.take(16 * KiB);
  const void *const l = large.get(), *const o = old.get(), *const y = young.get();
  for (auto* block : {&old, &young, &large}) *block = nullptr;
  EXPECT_EQ((large = pool.take(16 * KiB)).get(), y);
  EXPECT_EQ((old = pool.take(16 * KiB)).get(), o);
  EXPECT_EQ((young = pool.take(16 * KiB)).get(), l);
}

TEST_F(PoolTest, KnowsABlockBySizeAfterItServedLess) {
  const void* const first = pool.take(9 * KiB).get();
  EXPECT_EQ(pool.take(8 * KiB).get(), first);
  EXPECT_EQ(pool.kept_bytes(), 9 * KiB);
  EXPECT_EQ(pool.take(9 * KiB).get(), first);
}

TEST_F(PoolTest, CountsWhatIsKept) {
  auto one = pool.take(MiB), other = pool.take(2 * MiB);
  EXPECT_EQ(pool.kept_bytes(), 0U);
  one = nullptr;
  EXPECT_EQ(pool.kept_bytes(), MiB);
  other = nullptr;
  EXPECT_EQ(pool.kept_bytes(), 3 * MiB);
  one = pool.take(MiB);
  EXPECT_EQ(pool.kept_bytes(), 2 * MiB);
}

TEST_F(PoolTest, KeepsNoMoreThanItMay) {
  std::vector<std::shared_ptr<void>> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.take(16 * MiB));
  void* const oldest = blocks[0].get();
  for (auto& block : blocks) block = nullptr;
  EXPECT_EQ(memory.freed, std::vector{oldest});
  EXPECT_EQ(pool.kept_bytes(), 64 * MiB);
  EXPECT_EQ(memory.used(), 64 * MiB);
  // What is larger than all that it may keep goes at once, and pushes nothing out.
  auto huge = pool.take(100 * MiB);
  void* const address = huge.get();
  huge = nullptr;
  EXPECT_EQ(memory.freed, (std::vector{oldest, address}));
  EXPECT_EQ(pool.kept_bytes(), 64 * MiB);
}

TEST_F(PoolTest, FreesWhatIsKeptWhenThereIsTooLittle) {
  memory.size = 40 * MiB;
  pool.take(16 * MiB);
  const auto in_use = pool.take(8 * MiB);
  pool.take(4 * MiB);
  EXPECT_EQ(memory.used(), 28 * MiB);
  const auto block = pool.take(30 * MiB);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(memory.calls, 5);  // once in vain
  EXPECT_EQ(memory.freed.size(), 2U);
  EXPECT_EQ(pool.kept_bytes(), 0U);
  EXPECT_EQ(memory.used(), 38 * MiB);
}

TEST_F(PoolTest, SaysWhenEvenThatIsTooLittle) {
  memory.size = 40 * MiB;
  const auto in_use = pool.take(16 * MiB);
  EXPECT_EQ(pool.take(30 * MiB), nullptr);
  EXPECT_EQ(memory.calls, 2);  // nothing was kept: asking again would be in vain
  pool.take(4 * MiB);
  EXPECT_EQ(pool.take(30 * MiB), nullptr);
  EXPECT_EQ(memory.calls, 5);
  EXPECT_EQ(memory.used(), 16 * MiB);
  EXPECT_NE(pool.take(20 * MiB), nullptr);  // and goes on
}

TEST_F(PoolTest, AnErrorOfTheSourceChangesNothing) {
  Pool failing({.allocate = [](size_t) -> void* { throw std::runtime_error("the device is gone"); },
                .free = [](void*) {}},
               MiB);
  EXPECT_THROW(failing.take(1), std::runtime_error);
  EXPECT_THROW(failing.take(1), std::runtime_error);  // and no lock is left behind
}

TEST_F(PoolTest, FreesAllAtItsEnd) {
  {
    Pool other(memory.source(), MiB);
    other.take(100);
    other.take(100000);
  }
  EXPECT_EQ(memory.freed.size(), 2U);
  EXPECT_EQ(memory.used(), 0U);
}

}  // namespace
}  // namespace keratin::cuda

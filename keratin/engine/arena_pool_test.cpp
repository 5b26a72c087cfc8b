#include "keratin/engine/arena_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace keratin {
namespace {

ArenaPool::Arena take(ArenaPool& pool, size_t bytes) {
  return pool.take(bytes, [](size_t size) { return Buffer::allocate(size); });
}

TEST(ArenaPool, GivesAnIdleArenaThatIsLargeEnough) {
  ArenaPool pool;
  ArenaPool::Arena arena = take(pool, 1000);
  const std::byte* const memory = arena->data();
  EXPECT_EQ(pool.bytes(), 0u);
  pool.give_back(std::move(arena));
  EXPECT_EQ(pool.bytes(), 1000u);
  arena = take(pool, 10);
  EXPECT_EQ(arena->data(), memory);
  EXPECT_EQ(arena->size(), 1000u);
  pool.give_back(std::move(arena));
  EXPECT_EQ(take(pool, 1001)->size(), 1001u);  // instead of the smaller one
  EXPECT_EQ(pool.bytes(), 0u);
}

TEST(ArenaPool, KeepsOnePerProcessor) {
  ArenaPool pool;
  const size_t most = IdlePool<Buffer>().limit();
  std::vector<ArenaPool::Arena> in_use;
  for (size_t i = 0; i < most + 10; ++i) in_use.push_back(take(pool, 100));
  for (ArenaPool::Arena& arena : in_use) pool.give_back(std::move(arena));
  EXPECT_EQ(pool.bytes(), most * 100);
  pool.clear();
  EXPECT_EQ(pool.bytes(), 0u);
}

}  // namespace
}  // namespace keratin

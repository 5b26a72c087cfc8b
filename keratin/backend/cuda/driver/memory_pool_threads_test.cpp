#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "keratin/backend/cuda/driver/memory_pool.h"

namespace keratin::cuda {
namespace {

// Each thread writes its number into all it owns: a block with two owners would show two.
TEST(PoolThreads, NoBlockHasTwoOwners) {
  constexpr int threads = 4, rounds = 20000;
  std::atomic<int64_t> left = 200, mixed = 0, refused = 0;
  Pool pool({.allocate = [&](size_t bytes) -> void* {
               if (left.fetch_sub(1) > 0) return std::malloc(bytes);
               left.fetch_add(1);
               return nullptr;
             },
             .free =
                 [&](void* memory) {
                   std::free(memory);
                   left.fetch_add(1);
                 }},
            size_t{64} << 10);
  const auto work = [&](int number) {
    std::vector<std::shared_ptr<void>> mine;
    for (int round = 0; round < rounds; ++round) {
      const size_t count = 64 + static_cast<size_t>(round * 37 % 1000);
      auto block = pool.take(count * sizeof(int));
      if (block == nullptr) {
        ++refused;
      } else {
        std::fill_n(static_cast<int*>(block.get()), count, number);
        mine.push_back(std::move(block));
      }
      if (mine.size() < 8) continue;
      const auto& oldest = mine.front();
      if (static_cast<int*>(oldest.get())[0] != number ||
          static_cast<int*>(oldest.get())[63] != number)
        ++mixed;
      mine.erase(mine.begin());
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_EQ(refused, 0);
  EXPECT_LE(pool.kept_bytes(), size_t{64} << 10);
}

}  // namespace
}  // namespace keratin::cuda

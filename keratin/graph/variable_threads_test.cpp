#include <gtest/gtest.h>

#include <thread>

#include "keratin/engine/devices.h"
#include "keratin/graph/variable_shards.h"

namespace keratin {
namespace {

TEST(Variable, GathersShardsForSeveralThreadsAtOnce) {
  set_logical_devices("cpu", 2);
  const std::vector<Device> devices = keratin::devices();
  const Variable v({.name = "v", .shape = {4, 6}, .initializer = "glorot_uniform"});
  const Tensor expected = v.value().clone();
  shard_variable(v, 0, devices);
  for (const Variable& shard : shards_of(v)->shards) shard_variable(shard, 1, devices);
  std::vector<int> equal(4, 0);
  std::vector<std::thread> threads;
  for (int& count : equal)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) count += v.value() == expected ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 50));
}

}  // namespace
}  // namespace keratin

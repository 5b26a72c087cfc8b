#include <gtest/gtest.h>

#include <thread>

#include "keratin/engine/devices.h"
#include "keratin/graph/variable_parts.h"

namespace keratin {
namespace {

// One that lies in parts is put together for each of those who look.
TEST(Variable, InPartsMayBeReadBySeveralThreads) {
  set_logical_devices("cpu", 2);
  const std::vector<Device> devices = keratin::devices();
  const Variable v({.name = "v", .shape = {4, 6}, .initializer = "glorot_uniform"});
  const Tensor expected = v.value().clone();
  split(v, 0, devices);
  for (const Variable& part : parts_of(v)->parts) split(part, 1, devices);
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

#include "keratin/plan/queue_arenas.h"

#include <gtest/gtest.h>

#include "keratin/backend/reference/reference.h"

namespace keratin {
namespace {

constexpr Device gpu{Device::Kind::gpu, 0};

class QueueArenasTest : public ::testing::Test {
 protected:
  QueueArenasTest() {
    options_.backends = {&reference_backend()};
    options_.gpu_backends = {&reference_backend()};
  }

  Plan plan_;
  PlanOptions options_;
};

TEST_F(QueueArenasTest, EachDeviceHasAQueueAndAnArena) {
  QueueArenas arenas(plan_, options_);
  const Slot a = arenas.allocate({}, 64), b = arenas.allocate(gpu, 128),
             c = arenas.allocate({}, 64);
  EXPECT_EQ(a.index, c.index);
  EXPECT_NE(a.index, b.index);
  EXPECT_NE(a.offset, c.offset);
  arenas.finish();
  ASSERT_EQ(plan_.queues.size(), 2U);
  EXPECT_EQ(plan_.queues[b.index].device, gpu);
  EXPECT_EQ(plan_.queues[a.index].arena_bytes, 128U);
  EXPECT_EQ(plan_.arena_bytes, 256U);
}

TEST_F(QueueArenasTest, ReusesReleasedMemoryOfTheHost) {
  QueueArenas arenas(plan_, options_);
  const Slot a = arenas.allocate({}, 64);
  arenas.release(a);
  EXPECT_EQ(arenas.allocate({}, 64), a);
}

// Steps of a GPU run at the same time unless they share memory.
TEST_F(QueueArenasTest, ReusesMemoryOfAGpuOnlyIfTheArenaIsLarge) {
  QueueArenas arenas(plan_, options_);
  const Slot small = arenas.allocate(gpu, 64);
  arenas.release(small);
  EXPECT_NE(arenas.allocate(gpu, 64), small);
  const Slot large = arenas.allocate(gpu, size_t{33} << 20);
  arenas.release(large);
  EXPECT_EQ(arenas.allocate(gpu, size_t{33} << 20), large);
}

TEST_F(QueueArenasTest, PermanentMemoryDoesNotMakeAnArenaLarge) {
  QueueArenas arenas(plan_, options_);
  arenas.allocate_permanent(gpu, size_t{64} << 20);
  const Slot small = arenas.allocate(gpu, 64);
  arenas.release(small);
  EXPECT_NE(arenas.allocate(gpu, 64), small);
}

}  // namespace
}  // namespace keratin

#include <stdexcept>

#include "gpu_testing.h"
#include "keratin/backend/cuda/driver/gpu.h"

// Tests recording steps as a CUDA graph.
namespace keratin::testing {
namespace {

class RecordingOnGpu : public OnGpu {};

TEST_F(RecordingOnGpu, EndsIfAStepThrows) {
  cuda::Queue queue({Device::Kind::gpu, 0});
  queue.enter();
  constexpr size_t bytes = sizeof(double);
  std::byte *const from = queue.allocate(bytes), *const to = queue.allocate(bytes);
  const Launch copy = [&] {
    cuda::check(
        cuda::driver().copy_async(cuda::address(to), cuda::address(from), bytes, queue.stream()),
        "copy");
  };
  const std::vector<Launch> waits = {copy, [] { throw BackendError("waits for the device"); }},
                            fails = {copy, [] { throw std::runtime_error("fails"); }},
                            right = {copy, copy};
  const Dependencies one_by_one = {{}, {0}};
  double value = 0;
  for (int round = 1; round <= 3; ++round) {
    EXPECT_FALSE(queue.record(waits, one_by_one));
    EXPECT_THROW(queue.record(fails, one_by_one), std::runtime_error);
    EXPECT_TRUE(queue.record(right, one_by_one));
    const double sent = 1.5 * round;
    queue.upload(from, &sent, bytes);
    queue.replay();
    queue.download(&value, to, bytes);
    queue.wait();
    EXPECT_EQ(value, sent);
  }
}

}  // namespace
}  // namespace keratin::testing

#include <atomic>
#include <thread>

#include "gpu_testing.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/tensor/memory.h"
#include "keratin/testing/check_op.h"

// Tests memory outside of plans: freed memory is reused.
namespace keratin::testing {
namespace {

class MemoryOnGpu : public OnGpu {
 protected:
  const Device device{Device::Kind::gpu, 0};
  static constexpr size_t bytes = size_t{5} << 20;

  size_t used() const { return memory_use(device).used; }
  size_t kept() const { return cuda::gpu(device).memory().kept_bytes(); }
};

TEST_F(MemoryOnGpu, IsReused) {
  const size_t used_before = used();
  auto memory = cuda::allocate(device, bytes);
  EXPECT_EQ(used(), used_before + bytes);
  const void* const address = memory.get();
  const size_t kept_before = kept();
  memory = nullptr;
  EXPECT_EQ(used(), used_before);
  EXPECT_GE(kept(), kept_before + bytes);
  memory = cuda::allocate(device, bytes);
  EXPECT_EQ(memory.get(), address);
  EXPECT_EQ(kept(), kept_before);
}

TEST_F(MemoryOnGpu, FreesCachedMemoryBeforeFailing) {
  cuda::allocate(device, bytes);
  EXPECT_GE(kept(), bytes);
  const size_t used_before = used(), too_much = size_t{1} << 42;
  try {
    cuda::allocate(device, too_much);
    ADD_FAILURE() << "expected no GPU to have so much memory";
  } catch (const BackendError& error) {
    EXPECT_EQ(std::string(error.what()),
              text("gpu:0: out of memory, ", too_much, " bytes were requested; ", used_before,
                   " are in use"));
  }
  EXPECT_EQ(kept(), 0U);
  EXPECT_EQ(used(), used_before);
  EXPECT_NE(cuda::allocate(device, bytes), nullptr);
}

TEST_F(MemoryOnGpu, ReusesHostMemory) {
  std::byte* first = nullptr;
  {
    cuda::Queue queue(device);
    first = queue.allocate_host(bytes);
    first[bytes - 1] = std::byte{1};
  }
  cuda::Queue queue(device);
  EXPECT_EQ(queue.allocate_host(bytes), first);
}

// Several threads compile and run programs, which reuse each other's memory.
TEST_F(MemoryOnGpu, IsNotReusedWhileAProgramRuns) {
  constexpr int threads = 4, rounds = 12;
  const Type type{DType::f32, {512, 512}};
  const auto program = [&](const std::string& backend) {
    Module m;
    const Value x = m.input(type);
    Value y = x;
    for (int i = 0; i < 6; ++i) y = ops::tanh(ops::matmul(y, x)) + ops::mean(y, {0}, true);
    m.output(y);
    return compile(std::move(m), {.backend = backend, .tf32 = false});
  };
  std::vector<Tensor> inputs, expected;
  for (int i = 0; i < threads; ++i) {
    inputs.push_back(random_tensor(type, -0.1, 0.1, static_cast<uint64_t>(i)));
    expected.push_back(program("cuda")(std::vector{inputs.back()})[0]);
  }
  expect_close(expected[0], program("cpu")(std::vector{inputs[0]})[0], 1e-3, "a program alone");
  std::atomic<int> wrong = 0;
  const auto work = [&](size_t i) {
    for (int round = 0; round < rounds; ++round) {
      const Executable made = program("cuda");
      for (int run = 0; run < 4; ++run)  // the third is replayed
        if (!(made(std::vector{inputs[i]})[0] == expected[i])) ++wrong;
    }
  };
  std::vector<std::thread> all;
  for (size_t i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace keratin::testing

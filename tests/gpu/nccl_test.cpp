#include "keratin/backend/cuda/collective/nccl.h"

#include "gpu_testing.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/registry.h"
#include "keratin/testing/check_op.h"

// NCCL needs a GPU per operand. With one GPU, a sum has one operand.
namespace keratin::testing {
namespace {

class NcclOnGpu : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (cuda::device_count() > 0) need_for_gpu(cuda::nccl() != nullptr, "no NCCL");
  }
};

TEST_F(NcclOnGpu, SumsOverAllGpus) {
  const int gpus = cuda::device_count();
  std::vector<int> numbers;
  for (int i = 0; i < gpus; ++i) numbers.push_back(i);
  const cuda::Clique clique(*cuda::nccl(), numbers);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    std::vector<std::unique_ptr<cuda::Queue>> queues;
    std::vector<cuda::StreamHandle> streams;
    std::vector<cuda::Clique::Addend> addends;
    const Tensor x = random_tensor({dtype, {1000}}, -1, 1, 3), sum(dtype, {1000});
    for (int i = 0; i < gpus; ++i) {
      auto& queue = *queues.emplace_back(
          std::make_unique<cuda::Queue>(Device{Device::Kind::gpu, static_cast<int16_t>(i)}));
      streams.push_back(queue.stream());
      addends.push_back({queue.allocate(x.bytes()), queue.allocate(x.bytes()), 1000, dtype});
      queue.upload(const_cast<void*>(addends.back().from), x.raw(), x.bytes());
    }
    clique.all_reduce(addends, streams);
    for (size_t i = 0; i < queues.size(); ++i) {
      queues[i]->download(sum.raw(), addends[i].to, sum.bytes());
      queues[i]->finish();
      for (int64_t k = 0; k < 1000; ++k)
        ASSERT_NEAR(sum.at(k), gpus * x.at(k), gpus > 1 ? 0.02 * gpus : 0) << dtype << ' ' << k;
    }
  }
}

TEST_F(NcclOnGpu, SumsBucketsOfPrograms) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "one GPU";
  const Executable program = compile(ops::parse(R"(
      module(%x: f32[3]@gpu:0, %y: f32[3]@gpu:1, %z: f32[]@gpu:0, %u: f32[]@gpu:1) {
        %a, %b, %c, %d = all_reduce(%x, %y, %z, %u) {devices = [gpu:0, gpu:1]}
        return %a, %b, %c, %d
      })"));
  EXPECT_NE(program.describe().find("NCCL all_reduce, 2 tensors on 2 GPUs"), std::string::npos)
      << program.describe();
  const std::vector<Tensor> addends{Tensor::of<float>(DType::f32, {3}, {1, 2, 3}),
                                    Tensor::of<float>(DType::f32, {3}, {10, 20, 30}),
                                    Tensor::of<float>(DType::f32, {}, {4}),
                                    Tensor::of<float>(DType::f32, {}, {5})};
  for (int run = 0; run < 4; ++run) {
    const std::vector<Tensor> sums = program(addends);
    for (const size_t i : {0, 1})
      EXPECT_EQ(sums[i].to_vector(), (std::vector<double>{11, 22, 33})) << run;
    for (const size_t i : {2, 3}) EXPECT_EQ(sums[i].to_vector(), std::vector<double>{9}) << run;
  }
}

}  // namespace
}  // namespace keratin::testing

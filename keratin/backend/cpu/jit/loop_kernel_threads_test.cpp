#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "keratin/backend/cpu/jit/loop_kernel.h"

namespace keratin::cpu {
namespace {

LoopProgram softplus_and_sum() {
  LoopProgram p{.rank = 2, .dims = {20, 300}};
  p.add_input(DType::f32);
  const int32_t y = p.add(ScalarOp::log1p, p.add(ScalarOp::exp, 0));
  p.store(y);
  p.reduce(Reduce::sum, p.add(ScalarOp::sin, y), 1);
  return p;
}

TEST(LoopKernelThreads, OneKernelRunsOnManyThreads) {
  for (const LoopIsa isa : {LoopIsa::interpreter, best_loop_isa()}) {
    const LoopKernel kernel = LoopKernel::compile(softplus_and_sum(), {.threads = 2, .isa = isa});
    std::vector<float> x(6000);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 4 - 2;
    std::vector<std::vector<float>> sums(4, std::vector<float>(300));
    std::vector<std::thread> callers;
    for (std::vector<float>& sum : sums)
      callers.emplace_back([&] {
        std::vector<float> y(6000);
        std::vector<std::max_align_t> scratch(kernel.scratch_bytes() / sizeof(std::max_align_t) +
                                              1);
        void* inputs[] = {x.data()};
        void* outputs[] = {y.data(), sum.data()};
        for (int i = 0; i < 20; ++i) kernel.run(inputs, outputs, scratch.data());
      });
    for (std::thread& caller : callers) caller.join();
    for (const std::vector<float>& sum : sums) EXPECT_EQ(sum, sums[0]);
  }
}

TEST(LoopKernelThreads, KernelsAreCompiledAndDroppedOnManyThreads) {
  std::vector<std::thread> makers;
  for (int t = 0; t < 4; ++t)
    makers.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        LoopProgram p{.rank = 1, .dims = {64}};
        p.add_input(DType::f32);
        p.store(p.add(ScalarOp::mul, 0, p.add_constant(DType::f32, t)));
        const LoopKernel kernel = LoopKernel::compile(p);
        std::vector<float> x(64, 3), y(64);
        void* inputs[] = {x.data()};
        void* outputs[] = {y.data()};
        kernel.run(inputs, outputs, nullptr);
        EXPECT_EQ(y[63], 3.0f * static_cast<float>(t));
      }
    });
  for (std::thread& maker : makers) maker.join();
}

}  // namespace
}  // namespace keratin::cpu

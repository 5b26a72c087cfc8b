#include "keratin/backend/cpu/kernels.h"

#include <gtest/gtest.h>

#include <set>

#include "keratin/backend/cpu/cpu.h"
#include "keratin/ir/module.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/norm.h"

namespace keratin::cpu {
namespace {

TEST(CpuKernels, HaveUniqueNames) {
  std::set<std::string_view> names;
  for (const KernelDef* kernel : all_kernels()) {
    EXPECT_FALSE(kernel->name.empty());
    EXPECT_TRUE(names.insert(kernel->name).second) << kernel->name;
    EXPECT_NE(kernel->make, nullptr) << kernel->name;
  }
}

TEST(CpuKernels, ClaimBatchNormWithTheChannelsLast) {
  Module module;
  const Value x = module.input({DType::f32, {2, 3, 4}});
  const Node& last = ops::batch_norm_training(x).y.node();
  const Node& first = ops::batch_norm_training(x, {}, {}, 1).y.node();
  EXPECT_TRUE(cpu_backend().claims(last));
  EXPECT_EQ(cpu_backend().make(last, {}).name, "batch norm of a batch");
  EXPECT_FALSE(cpu_backend().claims(first));
  const Choice choice = cpu_backend().make(first, {});
  EXPECT_EQ(choice.kernel, nullptr);
  ASSERT_FALSE(choice.refused.empty());
  EXPECT_EQ(choice.refused[0].kernel, "batch norm of a batch");
  EXPECT_EQ(choice.refused[0].reason, "expected the channels last");
}

TEST(CpuKernels, SayWhyTilesRefuseAMatmul) {
  Module module;
  const Value x = module.input({DType::i32, {2, 2}});
  const Choice choice = cpu_backend().make(ops::matmul(x, x).node(), {});
  ASSERT_FALSE(choice.refused.empty());
  EXPECT_EQ(choice.refused[0].kernel, "matmul tiles");
  EXPECT_EQ(choice.refused[0].reason, "no tiles for i32");
}

}  // namespace
}  // namespace keratin::cpu

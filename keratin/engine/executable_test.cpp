#include "keratin/engine/executable.h"

#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/model/program.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

// A program with state that counts its runs.
Executable counting_product() {
  Module m;
  const Value x = m.input({DType::f32, {32, 64}}, "x"), w = m.input({DType::f32, {64, 16}}, "w");
  const Value count = m.state({DType::f32, {}}, "count");
  m.output(ops::matmul(x, w));
  m.update(count, count + 1.0);
  return compile(std::move(m), {.threads = 1});
}

TEST(Executable, AProfileRunsTheProgramAndTimesEachStep) {
  const Executable program = counting_product();
  const Tensor x = Tensor::full(DType::f32, {32, 64}, 1), w = Tensor::full(DType::f32, {64, 16}, 2);
  const Tensor count = Tensor::scalar(DType::f32, 0), y(DType::f32, {32, 16});
  const auto steps = program.profile(std::vector{x, w, count}, std::vector{y}, 3);
  ASSERT_EQ(steps.size(), program.steps());
  double flops = 0;
  for (const auto& step : steps) {
    EXPECT_FALSE(step.step.empty());
    EXPECT_GT(step.ms, 0);
    flops += step.flops;
  }
  EXPECT_EQ(flops, program.flops());
  EXPECT_EQ(count.at(0), 3);
  EXPECT_EQ(y.at(5), 128);
}

TEST(Executable, RefusesAProfileOfNoRuns) {
  const Executable program = counting_product();
  testing::expect_user_error([&] { program.profile({}, {}, 0); },
                             "profile needs at least one run, got 0");
}

}  // namespace
}  // namespace keratin

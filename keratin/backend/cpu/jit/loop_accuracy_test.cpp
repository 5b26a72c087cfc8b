#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "keratin/backend/cpu/jit/loop_testing.h"

namespace keratin::cpu::loop_testing {

namespace {

struct Worst {
  double ulps = 0;
  float at = 0;
};

// Over every 499th float there is.
Worst sweep(ScalarOp op, LoopIsa isa) {
  constexpr int64_t count = 1 << 16;
  LoopProgram p{.rank = 1, .dims = {count}};
  p.add_input(DType::f32);
  p.store(p.add(op, 0));
  const LoopKernel kernel = LoopKernel::compile(p, {.isa = isa});
  std::vector<float> x(count), y(count);
  Worst worst;
  uint64_t bits = 0;
  while (bits <= 0xffffffffu) {
    for (float& value : x) {
      value = std::bit_cast<float>(static_cast<uint32_t>(std::min<uint64_t>(bits, 0xffffffffu)));
      if (std::fpclassify(value) == FP_SUBNORMAL) value = 0;
      bits += 499;
    }
    run(kernel, {reinterpret_cast<char*>(x.data())}, {reinterpret_cast<char*>(y.data())});
    for (int64_t i = 0; i < count; ++i) {
      const Element arg{x[i], 0};
      const double error = ulps(DType::f32, y[i], evaluate(p.body[0], DType::f32, &arg).real);
      if (error > worst.ulps) worst = {error, x[i]};
    }
  }
  return worst;
}

class LoopAccuracy : public ::testing::TestWithParam<LoopIsa> {};

TEST_P(LoopAccuracy, FunctionsStayWithinTheirBoundOverAllFloats) {
  const std::vector<std::pair<ScalarOp, double>> bounds = {
      {ScalarOp::exp, 1.1}, {ScalarOp::expm1, 2},  {ScalarOp::log, 1.1},
      {ScalarOp::log1p, 2}, {ScalarOp::tanh, 2.5}, {ScalarOp::sigmoid, 2.5},
      {ScalarOp::erf, 1.5}, {ScalarOp::rsqrt, 1.5}};
  for (const auto& [op, bound] : bounds) {
    const Worst worst = sweep(op, GetParam());
    RecordProperty(std::string(name(op)), std::to_string(worst.ulps));
    std::printf("%-8s %s: %.3f ulp at %a\n", name(op).data(), name(GetParam()).data(), worst.ulps,
                double(worst.at));
    EXPECT_LE(worst.ulps, bound) << name(op) << " at " << worst.at;
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, LoopAccuracy, ::testing::ValuesIn(isas()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace keratin::cpu::loop_testing

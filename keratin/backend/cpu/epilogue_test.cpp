#include "keratin/backend/cpu/epilogue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "keratin/engine/compile.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/check_op.h"

namespace keratin::cpu {
namespace {

using testing::check_op;
using testing::OpCase;

Type typed(DType dtype, Shape shape) { return {dtype, shape}; }

// What the compiled program says of itself.
std::string plan_of(const OpCase& test) {
  Module module;
  Values inputs;
  for (const Type& type : test.inputs) inputs.push_back(module.input(type));
  for (const Value& value : test.build(inputs)) module.output(value);
  return compile(std::move(module), {.threads = 1}).describe();
}

void check_fused(const OpCase& test) {
  check_op(test);
  EXPECT_NE(plan_of(test).find("+ epilogue"), std::string::npos) << plan_of(test);
}

OpCase dense(DType dtype, Shape x, Shape w) {
  return {.name = "dense",
          .inputs = {typed(dtype, x), typed(dtype, w), typed(dtype, {w.back()})},
          .build = [](const Values& in) -> Values {
            return {ops::relu(ops::matmul(in[0], in[1]) + in[2])};
          }};
}

TEST(Epilogue, JoinsBiasAndReluOfADenseLayer) {
  check_fused(dense(DType::f32, {33, 20}, {20, 47}));
  check_fused(dense(DType::f32, {1, 20}, {20, 10}));
  check_fused(dense(DType::f32, {2, 7, 20}, {20, 10}));
  check_fused(dense(DType::f64, {9, 4}, {4, 5}));
  check_fused(dense(DType::bf16, {9, 40}, {40, 5}));
}

// The residual may be overwritten by the result, but not while there are sums to come.
TEST(Epilogue, AddsTheResidualOfAMatmul) {
  for (const int64_t k : {30, 3000}) {
    check_fused({.name = "residual",
                 .inputs = {typed(DType::f32, {20, k}), typed(DType::f32, {k, 24}),
                            typed(DType::f32, {20, 24})},
                 .build = [](const Values& in) -> Values {
                   const Value residual = ops::exp(in[2] * 0.1);
                   return {ops::relu(residual + ops::matmul(in[0], in[1]))};
                 },
                 .gradient = false,
                 .tolerance = 1e-4});
  }
}

// Nor may it be while other tiles read it as an operand.
TEST(Epilogue, DoesNotOverwriteAnOperand) {
  const std::function<Value(Value, Value)> tails[] = {
      [](Value x, Value y) { return x + y; },
      [](Value x, Value y) { return ops::where(x > 0.0, y, ops::scalar_like(y, 0)); },
  };
  for (const auto& tail : tails)
    check_fused({.name = "twice",
                 .inputs = {typed(DType::f32, {70, 300}), typed(DType::f32, {300, 300})},
                 .build = [&](const Values& in) -> Values {
                   const Value x = ops::sin(in[0] * 2.0);
                   return {tail(x, ops::matmul(x, in[1]))};
                 },
                 .gradient = false,
                 .tolerance = 1e-4});
}

// A relu's gradient, and a constant factor, need no loop of their own.
TEST(Epilogue, GatesAndScalesInTheTiles) {
  const auto plan = [](const std::function<Value(const Values&)>& tail) {
    return plan_of({.name = "tail",
                    .inputs = {typed(DType::f32, {37, 20}), typed(DType::f32, {20, 43}),
                               typed(DType::f32, {37, 43})},
                    .build = [=](const Values& in) -> Values { return {tail(in)}; }});
  };
  const std::string gated = plan([](const Values& in) {
    const Value y = ops::matmul(in[0], in[1]) * 0.5;
    return ops::where(in[2] > 0.0, y, ops::scalar_like(y, 0));
  });
  EXPECT_NE(gated.find("+ epilogue tiles"), std::string::npos) << gated;
  const std::string other = plan([](const Values& in) {
    const Value y = ops::matmul(in[0], in[1]);
    return ops::where(in[2] > 1.0, y, ops::scalar_like(y, 0));
  });
  EXPECT_NE(other.find("+ epilogue and loop tiles"), std::string::npos) << other;
}

TEST(Epilogue, CapsInTheTiles) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
    for (const int64_t groups : {1, 8}) {
      const OpCase relu6{.name = "relu6",
                         .inputs = {typed(dtype, {2, 6, 6, 8}), typed(dtype, {3, 3, 8 / groups, 8}),
                                    typed(dtype, {8})},
                         .build = [=](const Values& in) -> Values {
                           const Value y =
                               ops::conv(in[0], in[1], {.groups = groups, .padding = "same"});
                           return {ops::minimum(ops::relu(y + in[2]), ops::scalar_like(y, 0.5))};
                         },
                         .gradient = false,
                         .tolerance = dtype == DType::f16 ? 0.01 : 0};
      check_fused(relu6);
      EXPECT_EQ(plan_of(relu6).find("loop"), std::string::npos) << plan_of(relu6);
    }
  }
}

// A cap alone keeps NaNs, and a second one is a loop.
TEST(Epilogue, CapsNoNaN) {
  const auto capped = [](int times) {
    Module module;
    const Value x = module.input({DType::f32, {3, 4}}), w = module.input({DType::f32, {4, 20}});
    Value y = ops::matmul(x, w);
    for (int i = 0; i < times; ++i) y = ops::minimum(y + x.shape()[0], ops::scalar_like(y, 6 - i));
    module.output(y);
    return compile(std::move(module), {.threads = 1});
  };
  const Tensor x = Tensor::full(DType::f32, {3, 4}, std::nan("")),
               w = Tensor::full(DType::f32, {4, 20}, 1);
  for (const int times : {1, 2})
    for (const double element : capped(times)({x, w})[0].to_vector())
      EXPECT_TRUE(std::isnan(element));
}

TEST(Epilogue, RunsAResidualBlockOfConvolutions) {
  check_fused({.name = "block",
               .inputs = {typed(DType::f32, {2, 6, 6, 8}), typed(DType::f32, {3, 3, 8, 8}),
                          typed(DType::f32, {8})},
               .build = [](const Values& in) -> Values {
                 const Value y = ops::conv(in[0], in[1], {.padding = "same"}) + in[2];
                 return {ops::relu(y + in[0])};
               }});
}

// What tiles do not do in registers runs as a loop over each block of the result.
TEST(Epilogue, RunsOtherOpsAsALoopOverBlocks) {
  const std::function<Value(const Values&)> tails[] = {
      [](const Values& in) { return ops::tanh(ops::matmul(in[0], in[1]) + in[2]); },
      [](const Values& in) {
        const Value y = ops::matmul(in[0], in[1]);
        return y * ops::sigmoid(y);
      },
      [](const Values& in) {
        const Value y = ops::relu(ops::matmul(in[0], in[1]) + in[2]);
        return (y + in[3]) * in[2] * 0.5 + in[3];
      },
      [](const Values& in) {
        const Value y = ops::matmul(in[0], in[1]) + in[2];
        return ops::where(in[3] > 0.0, y, ops::scalar_like(y, 0));
      },
      [](const Values& in) { return (ops::matmul(in[0], in[1]) + in[2]) * 0.25 + in[3]; },
      [](const Values& in) {
        const Value y = ops::matmul(in[0], in[1]) * 0.5 * in[3];
        return ops::where(in[3] > 0.5, y * 3.0, ops::scalar_like(y, 0));
      },
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const auto& tail : tails) {
      check_fused({.name = "tail",
                   .inputs = {typed(dtype, {37, 20}), typed(dtype, {20, 43}), typed(dtype, {43}),
                              typed(dtype, {37, 43})},
                   .build = [&](const Values& in) -> Values { return {tail(in)}; },
                   .gradient = false,
                   .tolerance = dtype == DType::bf16 ? 0.04 : 0});
    }
  }
}

TEST(Epilogue, RunsOtherOpsAfterAConvolution) {
  check_fused({.name = "silu",
               .inputs = {typed(DType::f32, {2, 9, 8, 5}), typed(DType::f32, {3, 3, 5, 40}),
                          typed(DType::f32, {40})},
               .build = [](const Values& in) -> Values {
                 const Value y = ops::conv(in[0], in[1], {.padding = "same"}) + in[2];
                 return {y * ops::sigmoid(y)};
               }});
}

// A constant on the right is packed when the plan is built.
TEST(Epilogue, PacksConstantWeights) {
  const Tensor w = testing::random_tensor(typed(DType::f32, {40, 30}), -1, 1, 7);
  check_fused({.name = "dense",
               .inputs = {typed(DType::f32, {50, 40}), typed(DType::f32, {30})},
               .build = [&](const Values& in) -> Values {
                 const Value weights = ops::constant(in[0].block(), w.cast(in[0].dtype()));
                 return {ops::relu(ops::matmul(in[0], weights) + in[1])};
               }});
}

// Matmuls of heads that lie beside each other, read and written where they are.
TEST(Epilogue, ReadsAndWritesThroughTransposes) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const bool transposed : {false, true}) {
      const OpCase heads{
          .name = "heads",
          .inputs = {typed(dtype, {3, 17, 2, 20}),
                     typed(dtype, transposed ? Shape{3, 33, 2, 20} : Shape{3, 20, 2, 33})},
          .build = [=](const Values& in) -> Values {
            const Dims heads_first{0, 2, 1, 3};
            const Value heads =
                ops::matmul(ops::transpose(in[0], heads_first), ops::transpose(in[1], heads_first),
                            {.transpose_b = transposed});
            return {ops::transpose(heads, heads_first)};
          }};
      check_op(heads);
      EXPECT_EQ(plan_of(heads).find("transpose"), std::string::npos) << plan_of(heads);
      EXPECT_NE(plan_of(heads).find("matmul tiles"), std::string::npos) << plan_of(heads);
    }
  }
}

// Permutations that are not their own inverse.
TEST(Epilogue, FollowsPermutationsThatAreNotTheirOwnInverse) {
  const OpCase round{
      .name = "round",
      .inputs = {typed(DType::f32, {4, 17, 3, 20}), typed(DType::f32, {33, 3, 4, 20})},
      .build = [](const Values& in) -> Values {
        const Value a = ops::transpose(in[0], {2, 0, 1, 3}),
                    b = ops::transpose(in[1], {1, 2, 0, 3});
        return {ops::transpose(ops::matmul(a, b, {.transpose_b = true}), {2, 0, 1, 3})};
      }};
  check_op(round);
  EXPECT_EQ(plan_of(round).find("transpose"), std::string::npos) << plan_of(round);
}

// One operand for all of the batch, columns that were rows, and ops that follow.
TEST(Epilogue, ReadsATransposedOperandBeforeAnEpilogue) {
  check_fused({.name = "columns",
               .inputs = {typed(DType::f32, {4, 9, 7}), typed(DType::f32, {7, 11}),
                          typed(DType::f32, {11})},
               .build = [](const Values& in) -> Values {
                 return {ops::relu(ops::matmul(ops::transpose(in[0], {1, 0, 2}), in[1]) + in[2])};
               }});
  check_fused(
      {.name = "rows",
       .inputs = {typed(DType::f32, {7, 4, 9}), typed(DType::f32, {7, 11}),
                  typed(DType::f32, {11})},
       .build = [](const Values& in) -> Values {
         return {ops::tanh(
             ops::matmul(ops::transpose(in[0], {1, 0, 2}), in[1], {.transpose_a = true}) * in[2])};
       }});
}

}  // namespace
}  // namespace keratin::cpu

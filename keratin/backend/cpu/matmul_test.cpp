#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/plan/plan.h"
#include "keratin/testing/check_op.h"

namespace keratin::cpu {
namespace {

using testing::check_op;

Type f32(Shape shape) { return {DType::f32, shape}; }

testing::OpCase matmul_case(Shape a, Shape b, ops::MatmulAttrs attrs = {},
                            DType dtype = DType::f32) {
  return {
      .name = "matmul",
      .inputs = {{dtype, a}, {dtype, b}},
      .build = [attrs](const Values& in) -> Values { return {ops::matmul(in[0], in[1], attrs)}; }};
}

TEST(Matmul, AgreesWithTheReference) {
  check_op(matmul_case({3, 4}, {4, 5}));
  check_op(matmul_case({33, 20}, {20, 47}));
  check_op(matmul_case({4, 3}, {5, 4}, {.transpose_a = true, .transpose_b = true}));
  check_op(matmul_case({17, 9}, {40, 9}, {.transpose_b = true}));
  check_op(matmul_case({2, 1, 5, 4}, {3, 4, 6}));
  check_op(matmul_case({3, 5, 4}, {4, 6}));
  check_op(matmul_case({1, 7}, {7, 30}));
  check_op(matmul_case({0, 7}, {7, 3}));
  check_op(matmul_case({6, 0}, {0, 3}));
}

TEST(Matmul, RunsEveryFloatType) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    check_op(matmul_case({19, 24}, {24, 33}, {}, dtype));
    check_op(matmul_case({2, 24, 5}, {33, 24}, {.transpose_a = true, .transpose_b = true}, dtype));
  }
}

// A constant right operand is packed when the plan is built.
TEST(Matmul, PacksAConstant) {
  const Tensor b = testing::random_tensor(f32({40, 30}), -1, 1, 7);
  for (const bool transpose : {false, true}) {
    const Shape a_shape = transpose ? Shape{50, 30} : Shape{50, 40};
    check_op({.name = "matmul", .inputs = {f32(a_shape)}, .build = [&](const Values& in) -> Values {
                const Value weights = ops::constant(in[0].block(), b.cast(in[0].dtype()));
                return {ops::matmul(in[0], weights, {.transpose_b = transpose})};
              }});
  }
}

TEST(Matmul, RunsOnTiles) {
  Module module;
  Block& block = module.block();
  const Value a = block.parameter(f32({64, 64})), b = block.parameter(f32({64, 64}));
  block.results = {ops::matmul(a, b)};
  const Executable program = compile(std::move(module), {.threads = 1});
  EXPECT_NE(program.describe().find("matmul tiles"), std::string::npos);
}

}  // namespace
}  // namespace keratin::cpu

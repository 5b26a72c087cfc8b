#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/ir/node.h"
#include "keratin/ops/conv.h"
#include "keratin/testing/check_op.h"

namespace keratin::cpu {
namespace {

testing::OpCase conv_case(Shape x, Shape w, ops::ConvAttrs attrs = {}, DType dtype = DType::f32) {
  return {
      .name = "conv",
      .inputs = {{dtype, x}, {dtype, w}},
      .build = [attrs](const Values& in) -> Values { return {ops::conv(in[0], in[1], attrs)}; }};
}

// Values and, through the gradients, the other two directions.
TEST(ConvKernels, AgreeWithTheReference) {
  testing::check_op(conv_case({2, 6, 7, 3}, {3, 3, 3, 5}));
  testing::check_op(conv_case({2, 9, 8, 4}, {3, 2, 4, 6}, {.strides = {2, 3}, .padding = "same"}));
  testing::check_op(conv_case({1, 7, 7, 6}, {3, 3, 2, 9}, {.dilations = {2, 1}, .groups = 3}));
  testing::check_op(conv_case({2, 11, 3}, {4, 3, 2}, {.padding = "causal"}));
  testing::check_op(conv_case({1, 4, 5, 4, 2}, {2, 2, 3, 2, 3}, {.padding = "same"}));
  testing::check_op(conv_case({2, 5, 5, 8}, {3, 3, 1, 8}, {.groups = 8}));
  testing::check_op(conv_case({3, 4, 4, 8}, {1, 1, 8, 7}));
  testing::check_op(conv_case({2, 6, 6, 4}, {3, 3, 4, 5}, {}, DType::bf16));
}

TEST(ConvKernels, RunOnTiles) {
  Module module;
  Block& block = module.block();
  const Value x = block.parameter({DType::f32, {2, 12, 12, 8}});
  const Value w = block.parameter({DType::f32, {3, 3, 8, 16}});
  block.results = {ops::conv(x, w)};
  EXPECT_NE(compile(std::move(module), {.threads = 1}).describe().find("conv tiles"),
            std::string::npos);
}

}  // namespace
}  // namespace keratin::cpu

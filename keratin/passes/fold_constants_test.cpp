#include "keratin/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

// As the engine does it.
std::vector<Tensor> evaluate(const Node& node) {
  Module module;
  std::vector<Tensor> inputs;
  for (const Value& input : node.inputs()) {
    inputs.push_back(*ops::constant_value(input));
    module.input(input.type());
  }
  Node& copy = module.block().append(node.op(), module.block().parameter_values(), node.attrs());
  for (const Value& output : copy.outputs()) module.output(output);
  return compile(std::move(module), {.backend = "reference"})(inputs);
}

void check_folding(std::string_view before, std::string_view after) {
  testing::check_pass(
      [](Module m) { return eliminate_dead(fold_constants(std::move(m), evaluate)); }, before,
      after);
}

TEST(FoldConstants, ComputesWholeChains) {
  check_folding(R"(module(%x: f32[2]) {
             %a = constant() {value = f32[2] {1, 2}}
             %b = constant() {value = f32[] {3}}
             %c = add(%a, %b)
             %d = mul(%c, %c)
             %e = mul(%x, %d)
             return %e
           })",
                R"(module(%x: f32[2]) {
             %d = constant() {value = f32[2] {16, 25}}
             %e = mul(%x, %d)
             return %e
           })");
}

TEST(FoldConstants, ComputesCompositeOpsAndSmallCounts) {
  check_folding(R"(module() {
             %a = constant() {value = f32[4] {1, 2, 3, 6}}
             %m = mean(%a) {axes = [0]}
             %i = iota() {dtype = i32, shape = [3]}
             return %m, %i
           })",
                R"(module() {
             %m = constant() {value = f32[] {3}}
             %i = constant() {value = i32[3] {0, 1, 2}}
             return %m, %i
           })");
}

TEST(FoldConstants, LeavesBroadcastsAndBigResultsAlone) {
  const std::string_view text = R"(module() {
             %a = constant() {value = f32[] {1}}
             %b = broadcast_to(%a) {shape = [1000, 1000]}
             %i = iota() {shape = [2000]}
             %c = constant() {value = f32[100,1] {)";
  const auto ones = [](int count) {
    std::string list = "1";
    for (int i = 1; i < count; ++i) list += ", 1";
    return list;
  };
  const std::string full = std::string(text) + ones(100) + R"(}}
             %d = constant() {value = f32[100] {)" +
                           ones(100) + R"(}}
             %e = add(%c, %d)
             return %b, %i, %e
           })";
  check_folding(full, full);
}

TEST(FoldConstants, ReshapesAConstantOfAnySizeWithoutACopy) {
  Module module;
  const Tensor big = Tensor::zeros(DType::u8, {1 << 20});
  const Value constant = ops::constant(module.block(), big);
  module.output(
      module.block().append(ops::reshape_op, {constant}, ops::ReshapeAttrs{{1024, 1024}}).out());
  module = fold_constants(std::move(module), evaluate);
  const Tensor* folded = ops::constant_value(module.block().results[0]);
  ASSERT_NE(folded, nullptr);
  EXPECT_EQ(folded->raw(), big.raw());
  EXPECT_EQ(folded->shape(), Shape({1024, 1024}));
}

TEST(FoldConstants, NeverFoldsNodesThatDependOnInputsOrState) {
  const std::string_view text = R"(module(%x: f32[2], state %s: f32[2]) {
             %c = constant() {value = f32[] {2}}
             %a = mul(%x, %c)
             %b = mul(%s, %c)
             return %a, %b
           })";
  check_folding(text, text);
}

TEST(FoldConstants, LeavesNodesThatReadMuch) {
  for (const int64_t size : {1 << 16, (1 << 16) + 1}) {
    Module module;
    const Value constant = ops::constant(module.block(), Tensor::zeros(DType::u8, {size}));
    module.output(ops::sum(constant));
    module = fold_constants(std::move(module), evaluate);
    EXPECT_EQ(ops::constant_value(module.block().results[0]) != nullptr, size <= 1 << 16) << size;
  }
}

}  // namespace
}  // namespace keratin

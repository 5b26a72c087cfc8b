#include "keratin/autodiff/gradients.h"

#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/ir/module.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/records.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using Numbers = std::vector<double>;

using enum DType;

// The values at some inputs, one f64 vector each.
std::vector<Numbers> evaluate(Module& module, const Values& values,
                              const std::vector<Numbers>& at) {
  for (const Value& value : values) module.output(value);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < at.size(); ++i)
    inputs.push_back(Tensor::of(f64, module.block().parameters()[i]->type().shape, at[i]));
  std::vector<Numbers> results;
  for (const Tensor& tensor : compile(module.clone(), {.backend = "reference"})(inputs))
    results.push_back(tensor.to_vector());
  return results;
}

TEST(Gradients, AProductRule) {
  Module m;
  const Value x = m.input({f64, {2}}), y = m.input({f64, {2}});
  const Values d = gradients(ops::sum(x * y), {x, y});
  EXPECT_EQ(evaluate(m, d, {{1, 2}, {3, 4}}), std::vector<Numbers>({{3, 4}, {1, 2}}));
}

TEST(Gradients, OfATensorAreThoseOfItsSumUnlessDyIsGiven) {
  Module m;
  const Value x = m.input({f64, {2}}), dy = m.input({f64, {2}});
  const Value y = x * x;
  Values d = gradients(y, {x});
  d.push_back(gradients(y, {x}, dy)[0]);
  EXPECT_EQ(evaluate(m, d, {{1, 2}, {10, 100}}), std::vector<Numbers>({{2, 4}, {20, 400}}));
}

TEST(Gradients, AValueUsedTwiceGetsTheSum) {
  Module m;
  const Value x = m.input({f64, {}});
  const Values d = gradients(x * x + x, {x});
  EXPECT_EQ(evaluate(m, d, {{3}}), std::vector<Numbers>({{7}}));
}

TEST(Gradients, ReturnsAGradientTwiceForAnInputGivenTwice) {
  Module m;
  const Value x = m.input({f64, {}});
  const Values d = gradients(x * x, {x, x});
  EXPECT_EQ(evaluate(m, d, {{3}}), std::vector<Numbers>({{6}, {6}}));
}

TEST(Gradients, OneInputGivenTwiceToADecomposedOp) {
  // atan2 and others have gradients of their own; mean is differentiated through its pieces.
  Module m;
  const Value x = m.input({f64, {2}});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::make_unique<Block>(1));
  Block& body = *regions[0];
  const Value a = body.parameter({f64, {2}}), b = body.parameter({f64, {2}});
  body.results = {a * a * b};
  const Value y =
      m.block().append(ops::fused_op, {x, x}, ops::FusedAttrs{}, std::move(regions)).out();
  EXPECT_EQ(evaluate(m, gradients(y, {x}), {{2, 3}}), std::vector<Numbers>({{12, 27}}));
}

TEST(Gradients, IndependentInputsGetZeros) {
  Module m;
  const Value x = m.input({f64, {2}}), unused = m.input({f64, {3}});
  const Values d = gradients(ops::sum(x), {x, unused});
  EXPECT_EQ(evaluate(m, d, {{1, 2}, {0, 0, 0}}), std::vector<Numbers>({{1, 1}, {0, 0, 0}}));
}

TEST(Gradients, ByAValueInTheMiddle) {
  Module m;
  const Value x = m.input({f64, {}});
  const Value middle = ops::exp(x);
  const Value y = middle * middle;
  const Values d = gradients(y, {middle, x, y});
  const auto found = evaluate(m, d, {{0}});
  EXPECT_EQ(found, std::vector<Numbers>({{2}, {2}, {1}}));
}

TEST(Gradients, ByAValueWhoseOpHasNoGradient) {
  Module m;
  const Value x = m.input({f64, {3}});
  const Value steps = ops::cast(ops::argmax(x, 0), f64);
  EXPECT_EQ(evaluate(m, gradients(steps * steps, {steps}), {{1, 5, 2}}),
            std::vector<Numbers>({{2}}));
}

TEST(Gradients, StopGradientStops) {
  Module m;
  const Value x = m.input({f64, {}});
  const Values d = gradients(ops::stop_gradient(x * x) * x, {x});
  EXPECT_EQ(evaluate(m, d, {{3}}), std::vector<Numbers>({{9}}));
}

TEST(Gradients, NothingFlowsThroughIntegersAndComparisons) {
  Module m;
  const Value x = m.input({f64, {2}});
  const Value whole = ops::cast(ops::cast(x, DType::i32), f64);
  const Value larger = ops::cast(x > 1.0, f64);
  const Values d = gradients(ops::sum(whole * x + larger), {x});
  EXPECT_EQ(evaluate(m, d, {{1.5, 2.5}}), std::vector<Numbers>({{1, 2}}));
}

TEST(Gradients, OfGradients) {
  Module m;
  const Value x = m.input({f64, {}});
  const Value y = x * x * x * x;
  const Value first = gradients(y, {x})[0];
  const Value second = gradients(first, {x})[0];
  const Value third = gradients(second, {x})[0];
  EXPECT_EQ(evaluate(m, {first, second, third}, {{2}}), std::vector<Numbers>({{32}, {48}, {48}}));
}

TEST(Gradients, OfSeveralOutputsAtOnce) {
  Module m;
  const Value x = m.input({f64, {}}), dy = m.input({f64, {}});
  const Value a = x * x, b = ops::exp(x), c = ops::sin(x);
  const Values d =
      detail::pull_back(m.block(), {a, b, c, a}, {dy, ops::full_like(b, 1), Value(), dy}, {x});
  ASSERT_TRUE(d[0].defined());
  EXPECT_EQ(evaluate(m, d, {{0}, {5}}), std::vector<Numbers>({{1}}));
  EXPECT_FALSE(detail::pull_back(m.block(), {a}, {dy}, {dy})[0].defined());
}

TEST(Gradients, OfAnOpWithOneUsedOutputOfSeveral) {
  Module m;
  const Value x = m.input({f64, {2}});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::make_unique<Block>(1));
  const Value p = regions[0]->parameter({f64, {2}});
  regions[0]->results = {p * p, ops::argmax(p, 0), ops::exp(p)};
  Node& node = m.block().append(ops::fused_op, {x}, ops::FusedAttrs{}, std::move(regions));
  EXPECT_EQ(evaluate(m, gradients(node.out(0), {x}), {{1, 2}}), std::vector<Numbers>({{2, 4}}));
}

TEST(Gradients, AHundredThousandNodesInARow) {
  Module m;
  const Value x = m.input({f64, {}});
  Value y = x;
  for (int i = 0; i < 100000; ++i) y = ops::sin(y);
  const size_t before = m.block().nodes().size();
  gradients(y, {x});
  EXPECT_LT(m.block().nodes().size(), 4 * before);
}

TEST(Gradients, RefuseWhatTheyCannotDo) {
  Module m, other;
  const Value x = m.input({f64, {2}}), i = m.input({DType::i32, {2}}), z = other.input({f64, {2}});
  expect_user_error([&] { gradients(i, {x}); }, {"gradients", "float"});
  expect_user_error([&] { gradients(Value(), {x}); }, {"gradients", "float"});
  expect_user_error([&] { gradients(ops::sum(x), {i}); }, {"gradients", "float", "i32[2]"});
  expect_user_error([&] { gradients(ops::sum(x), {z}); }, {"gradients", "block"});
  expect_user_error([&] { gradients(ops::sum(x), {Value()}); }, "gradients");
  expect_user_error([&] { gradients(ops::sum(x), {x}, x); }, {"gradients", "f64[]", "f64[2]"});
  Module open;
  const Value u = open.input({f64, {unknown}});
  expect_user_error([&] { gradients(ops::sum(u * u), {u}); }, {"gradients", "known", "f64[?]"});
}

}  // namespace
}  // namespace keratin

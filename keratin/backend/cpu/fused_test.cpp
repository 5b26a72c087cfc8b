#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/registry.h"
#include "keratin/plan/plan.h"
#include "keratin/testing/check_op.h"

namespace keratin::cpu {
namespace {

// Runs a program on both backends, with as many threads as given; returns the plan's description.
std::string check(std::string_view source, double tolerance = 1e-5) {
  const Module module = ops::parse(source);
  std::vector<Tensor> inputs;
  for (const auto& parameter : module.block().parameters())
    inputs.push_back(testing::random_tensor(parameter->type(), -2, 2, inputs.size() + 1));
  const auto run = [&](const EngineOptions& options) {
    std::vector<Tensor> copies;
    for (const Tensor& input : inputs) copies.push_back(input.clone());
    std::vector<Tensor> all = compile(module.clone(), options)(copies);
    all.insert(all.end(), copies.begin(), copies.end());  // state is updated in place
    return all;
  };
  const std::vector<Tensor> expected = run({.backend = "reference"});
  for (const int threads : {1, 2}) {
    const std::vector<Tensor> actual = run({.threads = threads});
    for (size_t i = 0; i < expected.size(); ++i)
      testing::expect_close(actual[i], expected[i], tolerance, text("result ", i));
  }
  return compile(module.clone(), {.threads = 1}).describe();
}

TEST(Fused, RunsARegionAsOneLoop) {
  const std::string plan = check(R"(module(%x: f32[33,20], %b: f32[20], %m: f32[33,1]) {
    %y, %s = fused(%x, %b, %m) do(%p: f32[33,20], %q: f32[20], %r: f32[33,1]) {
      %half = constant() {value = f32[] {0.5}}
      %a = add(%p, %q)
      %t = tanh(%a)
      %h = mul(%t, %half)
      %z = mul(%h, %r)
      %sum = sum(%z) {axes = [0]}
      yield %z, %sum
    }
    return %y, %s
  })");
  EXPECT_NE(plan.find("loop add tanh mul mul sum"), std::string::npos) << plan;
}

TEST(Fused, ReducesOverMiddleAxesAndKeepsDims) {
  check(R"(module(%x: f32[4,5,6], %i: i32[4,5,6]) {
    %a, %b, %c, %d = fused(%x, %i) do(%p: f32[4,5,6], %q: i32[4,5,6]) {
      %f = cast(%q) {dtype = f32}
      %v = maximum(%p, %f)
      %w = less(%p, %f)
      %r = sum(%v) {axes = [1]}
      %s = max(%v) {axes = [0, 2], keepdims = true}
      %t = any(%w) {axes = [2]}
      yield %r, %s, %t, %v
    }
    return %a, %b, %c, %d
  })");
}

TEST(Fused, UpdatesStateInPlace) {
  const std::string plan =
      check(R"(module(state %w: f32[1000], state %m: f32[1000], %g: f32[1000]) {
    %w2, %m2 = fused(%w, %m, %g) do(%p: f32[1000], %q: f32[1000], %r: f32[1000]) {
      %beta = constant() {value = f32[] {0.9}}
      %a = mul(%q, %beta)
      %b = add(%a, %r)
      %c = sub(%p, %b)
      yield %c, %b
    }
    update %w = %w2
    update %m = %m2
    return %w2
  })");
  EXPECT_EQ(plan.find("copy 4000 bytes\n"), std::string::npos) << plan;
}

TEST(Fused, SkipsUnusedResults) {
  check(R"(module(%x: f32[70]) {
    %a, %b = fused(%x) do(%p: f32[70]) {
      %e = exp(%p)
      %n = neg(%e)
      yield %e, %n
    }
    return %b
  })");
}

// What is no loop is decomposed instead.
TEST(Fused, RefusesARegionThatIsNoLoop) {
  check(R"(module(%x: f32[4,6]) {
    %a = fused(%x) do(%p: f32[4,6]) {
      %s = sum(%p) {axes = [1], keepdims = true}
      %d = sub(%p, %s)
      yield %d
    }
    return %a
  })");
}

// The two operands are outputs of one node.
TEST(Fused, DistinguishesTheOutputsOfANode) {
  check(R"(module(%x: f32[70]) {
    %a, %b = fused(%x) do(%p: f32[70]) {
      %e = exp(%p)
      %n = neg(%e)
      yield %e, %n
    }
    %c = div(%a, %b)
    %s = sum(%b)
    return %c, %s
  })");
}

TEST(Fused, RunsOnEmptyTensors) {
  check(R"(module(%x: f32[0,6]) {
    %s = sum(%x) {axes = [0]}
    %e = exp(%x)
    return %s, %e
  })");
}

}  // namespace
}  // namespace keratin::cpu

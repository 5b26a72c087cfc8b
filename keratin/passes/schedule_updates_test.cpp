#include "keratin/passes/schedule_updates.h"

#include <gtest/gtest.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/backend/reference/reference.h"
#include "keratin/base/text.h"
#include "keratin/ops/ops.h"
#include "keratin/passes/decompose_unclaimed.h"
#include "keratin/plan/plan.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(ScheduleUpdates, RunsAnOptimizerAsSoonAsItsGradientIsThere) {
  check_pass(schedule_updates,
             R"(module(%x: f32[4,4], state %a: f32[4,4], state %b: f32[4,4]) {
                  %y = matmul(%x, %a)
                  %db = matmul(%y, %y)
                  %dy = matmul(%y, %b)
                  %da = matmul(%x, %dy)
                  %rate = constant() {value = f32[] {0.1}}
                  %sa = mul(%da, %rate)
                  %na = sub(%a, %sa)
                  %sb = mul(%db, %rate)
                  %nb = sub(%b, %sb)
                  update %a = %na
                  update %b = %nb
                  return %y
                })",
             R"(module(%x: f32[4,4], state %a: f32[4,4], state %b: f32[4,4]) {
                  %y = matmul(%x, %a)
                  %db = matmul(%y, %y)
                  %rate = constant() {value = f32[] {0.1}}
                  %sb = mul(%db, %rate)
                  %dy = matmul(%y, %b)
                  %nb = sub(%b, %sb)
                  %da = matmul(%x, %dy)
                  %sa = mul(%da, %rate)
                  %na = sub(%a, %sa)
                  update %a = %na
                  update %b = %nb
                  return %y
                })");
}

TEST(ScheduleUpdates, WaitsForReadersOfAView) {
  check_pass(schedule_updates,
             R"(module(%x: f32[4,4], state %a: f32[2,8]) {
                  %w = reshape(%a) {shape = [4,4]}
                  %g = matmul(%x, %x)
                  %d = reshape(%g) {shape = [2,8]}
                  %n = sub(%a, %d)
                  %y = matmul(%x, %w)
                  update %a = %n
                  return %y
                })",
             R"(module(%x: f32[4,4], state %a: f32[2,8]) {
                  %w = reshape(%a) {shape = [4,4]}
                  %g = matmul(%x, %x)
                  %d = reshape(%g) {shape = [2,8]}
                  %y = matmul(%x, %w)
                  %n = sub(%a, %d)
                  update %a = %n
                  return %y
                })");
}

// Another device of the CPU reads a state where it is.
TEST(ScheduleUpdates, WaitsForReadersOnOtherDevices) {
  check_pass(schedule_updates,
             R"(module(%x: f32[4,4], state %a: f32[4,4]) {
                  %w = transfer(%a) {device = cpu:1}
                  %g = matmul(%x, %x)
                  %n = sub(%a, %g)
                  %u = transfer(%x) {device = cpu:1}
                  %y = matmul(%u, %w)
                  update %a = %n
                  return %y
                })",
             R"(module(%x: f32[4,4], state %a: f32[4,4]) {
                  %w = transfer(%a) {device = cpu:1}
                  %g = matmul(%x, %x)
                  %u = transfer(%x) {device = cpu:1}
                  %y = matmul(%u, %w)
                  %n = sub(%a, %g)
                  update %a = %n
                  return %y
                })");
}

TEST(ScheduleUpdates, DoesNotMoveUpdatesThatNeedNoGradient) {
  check_pass(schedule_updates,
             R"(module(%x: f32[4,4], state %a: f32[4,4], state %t: f32[]) {
                  %one = constant() {value = f32[] {1}}
                  %nt = add(%t, %one)
                  %decayed = mul(%a, %nt)
                  %g = matmul(%x, %x)
                  %na = sub(%decayed, %g)
                  update %a = %na
                  update %t = %nt
                  return
                })",
             R"(module(%x: f32[4,4], state %a: f32[4,4], state %t: f32[]) {
                  %g = matmul(%x, %x)
                  %one = constant() {value = f32[] {1}}
                  %nt = add(%t, %one)
                  %decayed = mul(%a, %nt)
                  %na = sub(%decayed, %g)
                  update %a = %na
                  update %t = %nt
                  return
                })");
}

TEST(ScheduleUpdates, LeavesResultsAndProgramsWithoutStateAlone) {
  const std::string_view text = R"(module(%x: f32[4], state %s: f32[4]) {
                  %a = exp(%x)
                  %b = neg(%x)
                  %c = add(%s, %b)
                  update %s = %c
                  return %a, %c
                })";
  check_pass(schedule_updates, text, text);
}

TEST(ScheduleUpdates, WaitsForAnotherUpdateThatReadsTheState) {
  check_pass(schedule_updates,
             R"(module(%x: f32[4,4], state %m: f32[4,4], state %w: f32[4,4]) {
                  %g = matmul(%x, %x)
                  %old = neg(%m)
                  %h = matmul(%x, %g)
                  %nw = add(%h, %old)
                  %nm = add(%m, %g)
                  update %w = %nw
                  update %m = %nm
                  return
                })",
             R"(module(%x: f32[4,4], state %m: f32[4,4], state %w: f32[4,4]) {
                  %g = matmul(%x, %x)
                  %old = neg(%m)
                  %nm = add(%m, %g)
                  %h = matmul(%x, %g)
                  %nw = add(%h, %old)
                  update %w = %nw
                  update %m = %nm
                  return
                })");
}

// layers × (matmul, relu), a sum as the loss, and momentum for every weight.
Module training_step(int layers, int64_t size) {
  Module module;
  const Value x = module.input({DType::f32, {8, size}}, "x");
  Values weights, momenta;
  for (int i = 0; i < layers; ++i) {
    weights.push_back(module.state({DType::f32, {size, size}}, text("w", i)));
    momenta.push_back(module.state({DType::f32, {size, size}}, text("m", i)));
  }
  Value y = x;
  for (const Value& w : weights) y = ops::relu(ops::matmul(y, w));
  const Value loss = ops::sum(y);
  const Values found = gradients(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Value m = momenta[i] * 0.9 + found[i];
    module.update(momenta[i], m);
    module.update(weights[i], weights[i] - m * 0.01);
  }
  module.output(loss);
  return decompose_unclaimed(std::move(module), [](const Node&) { return false; });
}

size_t arena_of(Module module) {
  PlanOptions options;
  options.backends = {&reference_backend()};
  return make_plan(std::move(module), options).arena_bytes;
}

TEST(ScheduleUpdates, GradientsShareMemory) {
  constexpr size_t weight = 64 * 64 * sizeof(float);
  const size_t before = arena_of(training_step(10, 64));
  const size_t after = arena_of(schedule_updates(training_step(10, 64)));
  // All ten gradients at once before, at most two of them (and small activations) after.
  EXPECT_GT(before, 10 * weight);
  EXPECT_LT(after, 4 * weight);
}

}  // namespace
}  // namespace keratin

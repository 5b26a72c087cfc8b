#include "keratin/plan/lifetimes.h"

#include <gtest/gtest.h>

#include "keratin/backend/reference/reference.h"
#include "keratin/ops/registry.h"
#include "keratin/plan/step_list.h"

namespace keratin {
namespace {

// A plan that has its steps, and nothing else yet.
struct Draft {
  explicit Draft(std::string_view program)
      : plan{.module = ops::parse(program)}, storage(plan.module.block()) {
    PlanOptions options;
    options.backends = {&reference_backend()};
    make_steps(plan, options, storage);
  }
  Value output(size_t step) const { return plan.steps[step].node->out(); }

  Plan plan;
  Storage storage;
};

TEST(Lifetimes, EndWithTheLastStepThatReadsAnyName) {
  const Draft draft(R"(module(%x: f32[4]) {
    %a = neg(%x)
    %v = reshape(%a) {shape = [2, 2]}
    %b = exp(%a)
    %c = neg(%v)
    return %b, %c
  })");
  const Lifetimes lifetimes(draft.plan, draft.storage);
  ASSERT_EQ(draft.plan.steps.size(), 3U);
  EXPECT_EQ(lifetimes.of(draft.output(0)).last_use, 2U);
  EXPECT_FALSE(lifetimes.of(draft.output(0)).read_by_other_device);
}

TEST(Lifetimes, ResultsAndNewStateLiveForever) {
  const Draft draft(R"(module(%x: f32[2], state %s: f32[2]) {
    %a = neg(%x)
    %n = add(%s, %a)
    update %s = %n
    return %a
  })");
  const Lifetimes lifetimes(draft.plan, draft.storage);
  for (const size_t step : {0, 1})
    EXPECT_EQ(lifetimes.of(draft.output(step)).last_use, Lifetimes::forever);
}

TEST(Lifetimes, UnusedOutputsHaveNone) {
  const Draft draft(R"(module(%x: f32[2], %p: bool[]) {
    %a, %b = cond(%p, %x) do(%y: f32[2]) { %z = neg(%y) yield %z, %y }
                          do(%y: f32[2]) { %z = exp(%y) yield %z, %y }
    return %a
  })");
  const Lifetimes lifetimes(draft.plan, draft.storage);
  EXPECT_TRUE(lifetimes.of(draft.plan.steps[0].node->out(0)).used);
  EXPECT_FALSE(lifetimes.of(draft.plan.steps[0].node->out(1)).used);
}

// A transfer between devices of the CPU is no step: the other device reads in place.
TEST(Lifetimes, KnowWhatAnotherDeviceReads) {
  const Draft draft(R"(module(%x: f32[2]) {
    %a = neg(%x)
    %t = transfer(%a) {device = cpu:1}
    %b = exp(%t)
    %c = neg(%x)
    %s = transfer(%c) {device = gpu:0}
    return %b, %s
  })");
  const Lifetimes lifetimes(draft.plan, draft.storage);
  EXPECT_TRUE(lifetimes.of(draft.output(0)).read_by_other_device);
  EXPECT_FALSE(lifetimes.of(draft.output(2)).read_by_other_device);
}

}  // namespace
}  // namespace keratin

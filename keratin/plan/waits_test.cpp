#include "keratin/plan/waits.h"

#include <gtest/gtest.h>

#include "keratin/backend/reference/reference.h"
#include "keratin/base/text.h"
#include "keratin/ops/registry.h"

namespace keratin {
namespace {

Plan plan_waits(std::string_view text) {
  PlanOptions options;
  options.backends = {&reference_backend()};
  return make_plan(ops::parse(text), options);
}

// "1: 0" for a step 1 that waits for step 0, in order.
std::string waits_of(const Plan& plan) {
  std::string out;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    for (const Wait& wait : plan.steps[i].waits)
      out += text(out.empty() ? "" : ", ", i, ": ", plan.queues[wait.queue].steps[wait.steps - 1]);
  return out;
}

TEST(Waits, OneQueueHasNone) {
  EXPECT_EQ(waits_of(plan_waits("module(%x: f32[2]) { %a = neg(%x) %b = exp(%a) return %b }")), "");
}

TEST(Waits, ReadersWaitForWriters) {
  const Plan plan = plan_waits(R"(module(%x: f32[2]) {
    %a = neg(%x)
    %t = transfer(%a) {device = gpu:0}
    %b = exp(%t)
    return %b
  })");
  ASSERT_EQ(plan.queues.size(), 2u);
  EXPECT_EQ(waits_of(plan), "1: 0");
  EXPECT_TRUE(plan.steps[0].signals);
  EXPECT_FALSE(plan.steps[1].signals);
}

TEST(Waits, LeaveOutWhatAnEarlierWaitImplies) {
  EXPECT_EQ(waits_of(plan_waits(R"(module(%x: f32[2]) {
    %a = neg(%x)
    %b = exp(%a)
    %s = transfer(%b) {device = gpu:0}
    %t = transfer(%a) {device = gpu:0}
    %c = add(%s, %t)
    return %c
  })")),
            "2: 1");
}

// Another device reads %a, whose memory could then be that of %b.
Plan reading_memory(std::string_view device) {
  return plan_waits(text(R"(module(%x: f32[64]) {
    %a = neg(%x)
    %t = transfer(%a) {device = )",
                         device, R"(}
    %e = exp(%t)
    %b = exp(%x)
    %c = neg(%b)
    %d = add(%b, %c)
    return %d, %e
  })"));
}

// Another device reads %s, which then changes.
Plan reading_state(std::string_view device) {
  return plan_waits(text(R"(module(%x: f32[2], state %s: f32[2]) {
    %t = transfer(%s) {device = )",
                         device, R"(}
    %e = exp(%t)
    %n = add(%s, %x)
    update %s = %n
    return %e
  })"));
}

TEST(Waits, WritersWaitForReaders) {
  const Plan plan = reading_memory("gpu:0");
  ASSERT_EQ(plan.steps[0].slots[1], plan.steps[3].slots[1]) << plan;  // %a and %b share memory
  EXPECT_EQ(waits_of(plan), "1: 0, 3: 1") << plan;
}

TEST(Waits, StateIsWrittenAfterItsReadersOnOtherQueues) {
  const Plan plan = reading_state("gpu:0");
  EXPECT_EQ(waits_of(plan), "2: 0") << plan;
}

TEST(Waits, StateIsWrittenAfterEveryStepThatMayFail) {
  EXPECT_EQ(waits_of(plan_waits(R"(module(state %w: f32[2], %t: f32[3]@gpu:0, %i: i32[2]@gpu:0) {
    %g = gather(%t, %i) {axis = 0}
    %v = neg(%w)
    update %w = %v
    return %g
  })")),
            "1: 0");
}

// Nothing is copied between devices of the CPU. Memory that another device reads is not reused, so
// that no step waits for it.
TEST(Waits, DevicesOfTheCpuReadEachOthersMemory) {
  const Plan plan = reading_memory("cpu:1");
  EXPECT_EQ(plan.steps.size(), 5u);
  EXPECT_EQ(waits_of(plan), "1: 0") << plan;
}

TEST(Waits, MemoryThatAnotherDeviceReadsIsNotOverwritten) {
  const Plan plan = plan_waits(R"(module(%x: f32[64]) {
    %a = neg(%x)
    %t = transfer(%a) {device = cpu:1}
    %e = exp(%t)
    %b = neg(%a)
    %c = exp(%b)
    return %c, %e
  })");
  EXPECT_EQ(waits_of(plan), "1: 0") << plan;
}

TEST(Waits, StateIsWrittenAfterDevicesThatReadItInPlace) {
  const Plan plan = reading_state("cpu:1");
  EXPECT_EQ(waits_of(plan), "1: 0") << plan;
}

}  // namespace
}  // namespace keratin

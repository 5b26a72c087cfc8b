#include <gtest/gtest.h>

#include "keratin/plan/device_copy.h"
#include "keratin/plan/fake_gpu_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

// Updates s to s + x, and returns 2 s.
Plan adding(const Backend& backend) {
  return plan_on_fake_gpu(backend, R"(module(%x: f32[2], state %s: f32[2]) {
    %two = constant() {value = f32[] {2}}
    %y = mul(%s, %two)
    %t = add(%s, %x)
    update %s = %t
    return %y
  })");
}

class Staging : public ::testing::Test {
 protected:
  FakeGpuBackend backend_;
  Plan plan_ = adding(backend_);
  Tensor x_ = Tensor::of<float>(DType::f32, {2}, {1, 2});
  Tensor s_ = Tensor::of<float>(DType::f32, {2}, {10, 20});
  Tensor y_ = Tensor::zeros(DType::f32, {2});

  static std::vector<double> numbers(const Tensor& t) { return t.to_vector(); }
  using Numbers = std::vector<double>;
};

TEST_F(Staging, CopiesInputsToTheDeviceAndResultsBack) {
  Session session(plan_);
  session.run(std::vector{x_.raw(), s_.raw()}, std::vector{y_.raw()});
  EXPECT_EQ(numbers(y_), (Numbers{20, 40}));
  EXPECT_EQ(numbers(s_), (Numbers{11, 22}));
  EXPECT_EQ(backend_.traffic.sent, 1);
  EXPECT_EQ(backend_.traffic.up, 1);
  EXPECT_EQ(backend_.traffic.down, 1);  // the small result is written to staging memory
}

TEST_F(Staging, ReplaysFromTheThirdRunOn) {
  Session session(plan_);
  for (int i = 0; i < 4; ++i) session.run(std::vector{x_.raw(), s_.raw()}, std::vector{y_.raw()});
  EXPECT_EQ(numbers(s_), (Numbers{14, 28}));
  EXPECT_EQ(backend_.traffic.recorded, 1);
  EXPECT_EQ(backend_.traffic.replayed, 3);
}

TEST_F(Staging, StateStaysResidentUntilItIsRead) {
  Session session(plan_), other(plan_);
  const auto run = [&](Session& with) {
    with.set_input(0, x_.raw());
    with.set_state(1, s_);
    with.set_output(0, y_.raw());
    with.launch();
  };
  run(session);
  run(other);  // shares the state with the first session
  run(session);
  EXPECT_EQ(numbers(y_), (Numbers{24, 48}));
  EXPECT_EQ(numbers(s_), (Numbers{10, 20}));
  EXPECT_EQ(backend_.traffic.down, 0);
  copy_to_host(s_.raw());
  EXPECT_EQ(numbers(s_), (Numbers{13, 26}));
  // The host's bytes may have been written since: they are uploaded again.
  s_.set(0, 100);
  run(session);
  copy_to_host(s_.raw());
  EXPECT_EQ(numbers(s_), (Numbers{101, 28}));
}

TEST_F(Staging, StateIsCopiedBackWhenTheLastSessionEnds) {
  {
    Session session(plan_);
    session.set_input(0, x_.raw());
    session.set_state(1, s_);
    session.set_output(0, y_.raw());
    session.launch();
    EXPECT_NE(find_resident_copy(s_.raw()), nullptr);
  }
  EXPECT_EQ(find_resident_copy(s_.raw()), nullptr);
  EXPECT_EQ(numbers(s_), (Numbers{11, 22}));
}

TEST_F(Staging, AProgramOfTheHostReadsTheNewestState) {
  Session session(plan_);
  session.set_input(0, x_.raw());
  session.set_state(1, s_);
  session.set_output(0, y_.raw());
  session.launch();
  PlanOptions options;
  options.backends = {&reference_backend()};
  const Plan plan =
      make_plan(ops::parse("module(state %s: f32[2]) { %y = neg(%s) return %y }"), options);
  Session host(plan);
  host.set_state(0, s_);
  host.set_output(0, y_.raw());
  host.launch();
  EXPECT_EQ(numbers(y_), (Numbers{-11, -22}));
}

// Other queues wait for steps of the device, not for its inputs, which must arrive first.
TEST_F(Staging, InputsArriveBeforeOtherQueuesBegin) {
  Module m = ops::parse(R"(module(%x: f32[2]) {
    %a = exp(%x)
    %t = transfer(%x) {device = cpu:0}
    %y = neg(%t)
    return %y, %a
  })");
  m.block().parameters()[0]->place(Device("gpu:0"));
  m.block().nodes()[0]->place(Device("gpu:0"));
  PlanOptions options;
  options.backends = {&reference_backend()};
  options.gpu_backends = {&backend_};
  const Plan plan = make_plan(std::move(m), options);
  ASSERT_EQ(plan.queues.size(), 2U) << plan;
  backend_.traffic.sends_late = true;
  Session session(plan);
  Tensor other = y_.clone();
  void* inputs[] = {x_.raw()};
  void* outputs[] = {y_.raw(), other.raw()};
  session.run(inputs, outputs);
  EXPECT_EQ(numbers(y_), (Numbers{-1, -2}));
}

// The device cannot throw: the caller's indices are checked before they are sent.
TEST_F(Staging, ChecksIndicesOfTheCallerFirst) {
  const Plan plan = plan_on_fake_gpu(backend_, R"(module(%t: f32[3], %i: i32[2], state %s: f32[2]) {
    %g = gather(%t, %i) {axis = 0}
    %u = add(%s, %g)
    update %s = %u
    return %g
  })");
  Session session(plan);
  const Tensor t = Tensor::of<float>(DType::f32, {3}, {5, 6, 7});
  Tensor i = Tensor::of<int>(DType::i32, {2}, {2, 3});
  const auto run = [&] {
    session.run(std::vector{t.raw(), i.raw(), s_.raw()}, std::vector{y_.raw()});
  };
  testing::expect_user_error(run, "gather: index 3 is outside axis 0");
  EXPECT_EQ(backend_.traffic.sent, 0);
  EXPECT_EQ(numbers(s_), (Numbers{10, 20}));
  i.set(1, -1);
  run();
  EXPECT_EQ(numbers(s_), (Numbers{17, 27}));
}

// Results that are copied when they are read: until then nothing waits.
class DeferredResults : public Staging {
 protected:
  void run(Session& with) {
    with.set_input(0, x_.raw());
    with.set_state(1, s_);
    with.set_result(0, y_);
    with.launch();
  }
};

TEST_F(DeferredResults, AreCopiedWhenTheyAreRead) {
  Session session(plan_);
  for (int i = 0; i < 3; ++i) run(session);
  EXPECT_EQ(backend_.traffic.waits, 0);
  EXPECT_EQ(numbers(y_), (Numbers{0, 0}));
  copy_to_host(y_.raw());
  EXPECT_EQ(backend_.traffic.waits, 1);
  EXPECT_EQ(numbers(y_), (Numbers{24, 48}));
  copy_to_host(y_.raw());
  EXPECT_EQ(backend_.traffic.waits, 1);
  copy_to_host(s_.raw());
  EXPECT_EQ(backend_.traffic.waits, 2);
  EXPECT_EQ(numbers(s_), (Numbers{13, 26}));
}

TEST_F(DeferredResults, AreCopiedWhenTheSessionEnds) {
  {
    Session session(plan_);
    run(session);
  }
  EXPECT_EQ(numbers(y_), (Numbers{20, 40}));
  EXPECT_EQ(find_resident_copy(y_.raw()), nullptr);
}

TEST_F(DeferredResults, AreCopiedBeforeAnotherTensorIsTheOutput) {
  Session session(plan_);
  run(session);
  const Tensor first = std::exchange(y_, Tensor::zeros(DType::f32, {2}));
  run(session);
  EXPECT_EQ(numbers(first), (Numbers{20, 40}));
  copy_to_host(y_.raw());
  EXPECT_EQ(numbers(y_), (Numbers{22, 44}));
}

TEST_F(DeferredResults, AreCopiedWhileTheNextInputsAreSent) {
  Session session(plan_);
  run(session);
  y_ = Tensor::zeros(DType::f32, {2});
  run(session);
  EXPECT_EQ(backend_.traffic.waits, 1);
  EXPECT_EQ(backend_.traffic.sent_at_last_wait, 2);
}

TEST_F(DeferredResults, AnotherSessionWaitsForSharedState) {
  Session session(plan_), other(plan_);
  run(session);
  EXPECT_EQ(backend_.traffic.waits, 0);
  y_ = Tensor::zeros(DType::f32, {2});
  run(other);
  EXPECT_EQ(backend_.traffic.waits, 1);
  copy_to_host(y_.raw());
  EXPECT_EQ(numbers(y_), (Numbers{22, 44}));
}

TEST_F(DeferredResults, SessionsThatOnlyReadStateDoNotWaitForEachOther) {
  const Plan reading =
      plan_on_fake_gpu(backend_, "module(state %s: f32[2]) { %y = add(%s, %s) return %y }");
  Session one(reading), two(reading), writer(plan_);
  const auto read = [&](Session& with, const Tensor& y) {
    with.set_state(0, s_);
    with.set_result(0, y);
    with.launch();
  };
  const Tensor y1 = Tensor::zeros(DType::f32, {2}), y2 = Tensor::zeros(DType::f32, {2});
  read(one, y1);
  read(two, y2);
  read(one, y1);
  EXPECT_EQ(backend_.traffic.waits, 0);
  run(writer);
  EXPECT_EQ(backend_.traffic.waits, 2);
  read(one, y1);
  EXPECT_EQ(backend_.traffic.waits, 3);
  copy_to_host(y1.raw());
  copy_to_host(y2.raw());
  EXPECT_EQ(numbers(y1), (Numbers{22, 44}));
  EXPECT_EQ(numbers(y2), (Numbers{20, 40}));
}

TEST_F(DeferredResults, ErrorsOfKernelsAreThrownWhenTheyAreReadOrInTheNextRun) {
  Session session(plan_);
  run(session);
  backend_.traffic.error = "out of range";
  testing::expect_user_error([&] { copy_to_host(y_.raw()); }, "out of range");
  run(session);
  backend_.traffic.error = "out of range";
  testing::expect_user_error([&] { run(session); }, "out of range");
}

}  // namespace
}  // namespace keratin

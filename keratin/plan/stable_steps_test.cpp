#include <cmath>

#include <gtest/gtest.h>

#include "keratin/plan/dependencies.h"
#include "keratin/plan/device_copy.h"
#include "keratin/plan/fake_gpu_testing.h"

// Steps that depend on stable values only, which sessions skip.
namespace keratin {
namespace {

using Numbers = std::vector<double>;

// y = x · prepared.
class PreparedMul final : public PreparedKernel {
 public:
  PreparedMul(const Node& node, int& prepared) : node_(node), prepared_(prepared) {}
  std::string describe() const override { return "prepared mul"; }
  size_t scratch_bytes() const override { return 64; }
  std::unique_ptr<Preparation> preparation() const override {
    return std::make_unique<Doubling>(node_, prepared_);
  }
  Launch bind(Pointers p) const override {
    return [this, p] {
      const auto *x = static_cast<float*>(p[0]), *twice = static_cast<float*>(p[4]);
      std::memset(p[3], 0xff, scratch_bytes());
      for (int64_t i = 0; i < node_.type().shape.count(); ++i)
        static_cast<float*>(p[2])[i] = x[i] * twice[i];
    };
  }

 private:
  // 2 w.
  class Doubling final : public Preparation {
   public:
    Doubling(const Node& node, int& prepared) : node_(node), prepared_(prepared) {}
    std::string describe() const override { return "doubling"; }
    size_t scratch_bytes() const override { return bytes_of(node_.in(1).type()); }
    bool reads(size_t input) const override { return input == 1; }
    Launch bind(Pointers p) const override {
      return [this, p] {
        EXPECT_EQ(p[0], nullptr);
        EXPECT_EQ(p[2], nullptr);
        const auto* w = static_cast<float*>(p[1]);
        for (int64_t i = 0; i < node_.in(1).shape().count(); ++i)
          static_cast<float*>(p[3])[i] = 2 * w[i];
        ++prepared_;
      };
    }

   private:
    const Node& node_;
    int& prepared_;
  };

  const Node& node_;
  int& prepared_;
};

class PreparingBackend final : public FakeGpuBackend {
 public:
  Choice make(const Node& node, const KernelOptions& options) const override {
    if (node.name() == "mul") return {.kernel = std::make_unique<PreparedMul>(node, prepared)};
    return FakeGpuBackend::make(node, options);
  }
  mutable int prepared = 0;
};

class StableSteps : public ::testing::Test {
 protected:
  void run(Session& session) {
    session.set_input(0, x_.raw());
    session.set_state(1, w_);
    session.set_output(0, y_.raw());
    session.launch();
  }
  static Numbers numbers(const Tensor& t) { return t.to_vector(); }

  PreparingBackend backend_;
  Tensor x_ = Tensor::of<float>(DType::f32, {2}, {1, 2});
  Tensor w_ = Tensor::of<float>(DType::f32, {2}, {10, 20});
  Tensor y_ = Tensor::zeros(DType::f32, {2});
};

// Prepares 2 w, and again when w has changed.
constexpr const char* reading = R"(module(%x: f32[2], state %w: f32[2]) {
    %y = mul(%x, %w)
    return %y
  })";

TEST_F(StableSteps, KeepWhatIsPrepared) {
  const Plan plan = plan_on_fake_gpu(backend_, reading);
  EXPECT_EQ(plan.stable_steps, 1U);
  Session session(plan);
  for (int i = 0; i < 5; ++i) {
    x_.set(0, i);
    run(session);
    EXPECT_EQ(numbers(y_), (Numbers{20.0 * i, 80}));
  }
  EXPECT_EQ(backend_.prepared, 1);
  EXPECT_EQ(backend_.traffic.replayed, 4);
}

TEST_F(StableSteps, RunAgainWhenTheHostChangesState) {
  const Plan plan = plan_on_fake_gpu(backend_, reading);
  Session session(plan), other(plan);
  for (int i = 0; i < 4; ++i) {
    copy_to_host(w_.raw());
    w_.set(0, i);
    for (int again = 0; again < 3; ++again) {
      y_.set(0, -1);
      run(again == 1 ? other : session);
      EXPECT_EQ(numbers(y_), (Numbers{2.0 * i, 80}));
    }
  }
  EXPECT_EQ(backend_.prepared, 8);  // each session has its own
}

TEST_F(StableSteps, RunAgainForAnotherTensor) {
  const Plan plan = plan_on_fake_gpu(backend_, reading);
  Session session(plan);
  for (int i = 0; i < 4; ++i) {
    const Tensor before = w_;
    w_ = Tensor::of<float>(DType::f32, {2}, {static_cast<float>(i), 1});
    run(session);
    EXPECT_EQ(numbers(y_), (Numbers{2.0 * i, 4}));
  }
}

// State that is passed as an address may change between any two runs.
TEST_F(StableSteps, RunEachTimeForStateThatIsNotResident) {
  const Plan plan = plan_on_fake_gpu(backend_, reading);
  Session session(plan);
  for (int i = 0; i < 4; ++i) {
    w_.set(0, i);
    session.run(std::vector{x_.raw(), w_.raw()}, std::vector{y_.raw()});
    EXPECT_EQ(numbers(y_), (Numbers{2.0 * i, 80}));
  }
}

TEST_F(StableSteps, RunAgainWhenAnotherProgramChangesState) {
  const Plan plan = plan_on_fake_gpu(backend_, reading),
             training = plan_on_fake_gpu(backend_, R"(module(%x: f32[2], state %w: f32[2]) {
    %n = add(%w, %x)
    update %w = %n
    return %x
  })");
  EXPECT_EQ(training.stable_steps, 0U);
  Session session(plan), trainer(training);
  for (int i = 0; i < 4; ++i) {
    run(session);
    EXPECT_EQ(numbers(y_), (Numbers{2.0 * (10 + i), 4.0 * (20 + 2 * i)}));
    run(trainer);
  }
}

TEST_F(StableSteps, DoNotReadStateThatTheProgramUpdates) {
  const Plan plan = plan_on_fake_gpu(backend_, R"(module(%x: f32[2], state %w: f32[2]) {
    %y = mul(%x, %w)
    %n = add(%w, %x)
    update %w = %n
    return %y
  })");
  EXPECT_EQ(plan.stable_steps, 0U);
  EXPECT_EQ(find_dependencies(plan), (Dependencies{{}, {0}, {1}}));
  Session session(plan);
  for (int i = 0; i < 4; ++i) {
    run(session);
    EXPECT_EQ(numbers(y_), (Numbers{2.0 * (10 + i), 4.0 * (20 + 2 * i)}));
  }
  EXPECT_EQ(backend_.prepared, 4);
}

// %a and %v depend on %w only; %b does not, and %r is a result.
constexpr const char* mixed = R"(module(%x: f32[2], state %w: f32[2], state %s: f32[2]) {
    %b = add(%x, %w)
    %a = neg(%w)
    %v = exp(%a)
    %c = add(%b, %v)
    %d = add(%c, %a)
    %e = mul(%d, %v)
    %r = neg(%a)
    %t = add(%s, %a)
    update %s = %t
    return %e, %r
  })";

TEST_F(StableSteps, ComeFirstAndHaveTheirOwnMemory) {
  const Plan plan = plan_on_fake_gpu(backend_, mixed);
  std::vector<std::string> steps;
  for (size_t i = 0; i < plan.stable_steps; ++i) steps.push_back(plan.steps[i].kernel->describe());
  EXPECT_EQ(steps, (std::vector<std::string>{"reference neg", "reference exp", "doubling"}));
  // b, c, d, e, r, t
  EXPECT_EQ(find_repeated_dependencies(plan), (Dependencies{{}, {0}, {1}, {2}, {}, {}}));
  // No other step uses their memory.
  for (size_t i = 0; i < plan.stable_steps; ++i)
    for (size_t later = plan.stable_steps; later < plan.steps.size(); ++later) {
      const auto& slots = plan.steps[later].slots;
      for (size_t s = plan.steps[later].input_count(); s < slots.size(); ++s)
        for (const Slot& mine : plan.steps[i].slots)
          if (mine.kind == Slot::Kind::arena && slots[s].kind == Slot::Kind::arena &&
              slots[s] != plan.steps[2].slots.back()) {
            EXPECT_TRUE(mine.offset + mine.bytes <= slots[s].offset ||
                        slots[s].offset + slots[s].bytes <= mine.offset)
                << plan;
          }
    }
}

TEST_F(StableSteps, GiveTheResultsThatAllStepsGive) {
  const Plan plan = plan_on_fake_gpu(backend_, mixed);
  Session session(plan);
  Tensor s = Tensor::zeros(DType::f32, {2}), r = Tensor::zeros(DType::f32, {2});
  w_ = Tensor::of<float>(DType::f32, {2}, {0, 1});
  for (int i = 1; i < 5; ++i) {
    session.set_input(0, x_.raw());
    session.set_state(1, w_);
    session.set_state(2, s);
    session.set_output(0, y_.raw());
    session.set_output(1, r.raw());
    session.launch();
    const double e = std::exp(-1.0F);
    EXPECT_NEAR(y_.at(0), 2 * (1 + 1 - 0) * 1, 1e-6);
    EXPECT_NEAR(y_.at(1), 2 * (3 + e - 1) * e, 1e-6);
    EXPECT_EQ(numbers(r), (Numbers{0, 1}));
    copy_to_host(s.raw());
    EXPECT_EQ(numbers(s), (Numbers{0, -1.0 * i}));
  }
}

TEST_F(StableSteps, DoNotKeepValuesMuchLargerThanTheirInputs) {
  const Plan plan = plan_on_fake_gpu(backend_, R"(module(%x: f32[1], state %w: f32[300, 1],
                                                   state %v: f32[1, 300]) {
    %a = add(%w, %v)
    %b = add(%a, %x)
    return %b
  })");
  EXPECT_EQ(plan.stable_steps, 0U);
}

}  // namespace
}  // namespace keratin

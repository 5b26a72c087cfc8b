#include <gtest/gtest.h>

#include <cfenv>
#include <random>

#include "keratin/backend/reference/reference.h"
#include "keratin/base/text.h"
#include "keratin/ops/all_reduce.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"
#include "keratin/plan/session.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

Plan plan_with(const Backend& backend, Module module) {
  PlanOptions options;
  options.backends = {&backend};
  return make_plan(std::move(module), options);
}

// A program over several devices with many transfers, collectives, and memory that is reused.
Module random_program(uint32_t seed, int devices, int length) {
  std::mt19937 random(seed);
  const auto any = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  Module module;
  const Value state = module.state({DType::f64, {32}}, "s");
  Values values{module.input({DType::f64, {32}}, "x"), state};
  std::vector<bool> used{true, true};
  // Mostly recent values, so that memory of the others is reused.
  const auto pick = [&] {
    const size_t i = values.size() - 1 - any(std::min<size_t>(values.size(), 6));
    used[i] = true;
    return values[i];
  };
  for (int i = 0; i < length; ++i) {
    const Device device{Device::Kind::cpu, static_cast<int16_t>(any(static_cast<size_t>(devices)))};
    const auto here = [&](Value v) {
      return v.type().device == device ? v : ops::transfer(v, device);
    };
    const Value a = here(pick()), b = here(pick());
    values.push_back(any(2) == 0 ? ops::maximum(a, b) : ops::minimum(a, -b));
    used.push_back(false);
    if (any(6) > 0) continue;
    Values addends;
    for (int d = 0; d < devices; ++d)
      addends.push_back(ops::transfer(pick(), {Device::Kind::cpu, static_cast<int16_t>(d)}));
    const Values sums = ops::all_reduce({addends})[0];
    values.insert(values.end(), sums.begin(), sums.end());
    used.resize(values.size(), false);
  }
  const auto on_cpu0 = [](Value v) {
    return v.type().device == Device{} ? v : ops::transfer(v, {});
  };
  module.update(state, on_cpu0(pick()));
  for (size_t i = 0; i < values.size(); ++i)
    if (!used[i]) module.output(values[i]);
  return module;
}

// The state and the results after one launch.
template <class Launch>
std::vector<std::vector<double>> outcome(const Plan& plan, Session& session, const Launch& launch) {
  std::vector<std::vector<double>> all(1 + plan.results().size(), std::vector<double>(32));
  std::vector<double> x(32);
  for (size_t i = 0; i < 32; ++i) {
    x[i] = 0.1 * double(i);
    all[0][i] = 1 - 0.05 * double(i);
  }
  session.set_input(0, all[0].data());
  session.set_input(1, x.data());
  for (size_t i = 1; i < all.size(); ++i) session.set_output(i - 1, all[i].data());
  launch();
  return all;
}

// The reference backend, and all-reduces in one step.
class WithAllReduce final : public Backend {
 public:
  std::string_view name() const override { return "with all-reduce"; }
  bool claims(const Node& node) const override {
    return &node.op() == &ops::all_reduce_op || reference_backend().claims(node);
  }
  Choice make(const Node& node, const KernelOptions& options) const override {
    if (&node.op() != &ops::all_reduce_op) return reference_backend().make(node, options);
    return {.kernel = std::make_unique<Sum>(node)};
  }

 private:
  class Sum final : public Kernel {
   public:
    explicit Sum(const Node& node) : node_(node) {}
    std::string describe() const override { return "all_reduce"; }
    Launch bind(Pointers p) const override {
      return [this, p] {
        const size_t addends = node_.input_count();
        for (size_t i = 0; i < 32; ++i) {
          double sum = 0;
          for (size_t a = 0; a < addends; ++a) sum += static_cast<double*>(p[a])[i];
          for (size_t a = addends; a < 2 * addends; ++a)
            if (p[a] != nullptr) static_cast<double*>(p[a])[i] = sum;
        }
      };
    }

   private:
    const Node& node_;
  };
};

TEST(Queues, ConcurrentQueuesGiveTheResultsOfOneThread) {
  const WithAllReduce backend;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Plan plan = plan_with(backend, random_program(seed, 2 + int(seed % 3), 60));
    Session session(plan);
    std::vector<double> seconds(plan.steps.size());
    const auto expected = outcome(plan, session, [&] { session.launch_timed(seconds); });
    for (int round = 0; round < 10; ++round)
      ASSERT_EQ(outcome(plan, session, [&] { session.launch(); }), expected)
          << "seed " << seed << '\n'
          << plan;
  }
}

TEST(Queues, ADeviceThatOnlyTakesPartInACollectiveHasOne) {
  Module module;
  Values addends;
  for (const int16_t d : {0, 1})
    addends.push_back(module.input({DType::f64, {32}, {Device::Kind::cpu, d}}));
  const Values sums = ops::all_reduce({addends})[0];
  for (const Value& sum : sums) module.output(sum);
  const WithAllReduce backend;
  const Plan plan = plan_with(backend, std::move(module));
  ASSERT_EQ(plan.queues.size(), 2U);
  EXPECT_EQ(plan.queues[1].device, (Device{Device::Kind::cpu, 1}));
  Session session(plan);
  std::vector<double> x(32, 1), y(32, 2), a(32), b(32);
  session.run(std::vector<void*>{x.data(), y.data()}, std::vector<void*>{a.data(), b.data()});
  EXPECT_EQ(a, std::vector<double>(32, 3));
  EXPECT_EQ(b, a);
}

// The reference backend, with a function that is called before each `neg`.
class WithHook final : public Backend {
 public:
  using Hook = std::function<void(Device)>;
  explicit WithHook(Hook hook) : hook_(std::move(hook)) {}
  std::string_view name() const override { return "with hook"; }
  bool claims(const Node& node) const override { return reference_backend().claims(node); }
  Choice make(const Node& node, const KernelOptions& options) const override {
    Choice choice = reference_backend().make(node, options);
    if (node.name() == "neg")
      choice.kernel = std::make_unique<Neg>(std::move(choice.kernel),
                                            [this, device = node.device()] { hook_(device); });
    return choice;
  }

 private:
  class Neg final : public Kernel {
   public:
    Neg(std::unique_ptr<Kernel> kernel, std::function<void()> hook)
        : kernel_(std::move(kernel)), hook_(std::move(hook)) {}
    std::string describe() const override { return "neg that may throw"; }
    Launch bind(Pointers pointers) const override {
      return [this, launch = kernel_->bind(pointers)] {
        hook_();
        launch();
      };
    }

   private:
    std::unique_ptr<Kernel> kernel_;
    std::function<void()> hook_;
  };
  Hook hook_;
};

constexpr Device second{Device::Kind::cpu, 1};

TEST(Queues, AnErrorStopsAllQueuesAndTheNextRunWorks) {
  Module module;
  const Value x = module.input({DType::f64, {2}, {}}, "x");
  Value here = x, there = -ops::transfer(x, second);
  for (int i = 0; i < 20; ++i) here = ops::tanh(here + ops::transfer(there, {}));
  module.output(here);
  bool throws = true;
  const WithHook backend([&](Device) {
    if (throws) throw BackendError("out of memory: 8 bytes requested");
  });
  const Plan plan = plan_with(backend, std::move(module));
  Session session(plan);
  double in[2] = {1, 2}, out[2] = {7, 7};
  void* inputs[] = {in};
  void* outputs[] = {out};
  for (int round = 0; round < 50; ++round) {
    throws = true;
    try {
      session.run(inputs, outputs);
      FAIL() << "expected an error";
    } catch (const BackendError& error) {
      EXPECT_STREQ(error.what(),
                   "cpu:1: step 0, neg that may throw: out of memory: 8 bytes requested");
    }
    EXPECT_EQ(out[0], 7);
    throws = false;
    session.run(inputs, outputs);
    EXPECT_NE(out[0], 7);
    out[0] = 7;
  }
}

TEST(Queues, AnErrorStopsAQueueThatDoesNotWait) {
  Module module;
  const Value x = module.input({DType::f64, {2}, {}}, "x");
  Value here = -x;
  for (int i = 0; i < 1000; ++i) here = ops::tanh(here);
  module.output(here);
  module.output(-ops::transfer(x, second));
  std::atomic<bool> thrown = false;
  const WithHook backend([&](Device device) {
    if (device == second) {
      thrown = true;
      throw BackendError("no");
    }
    while (!thrown) std::this_thread::yield();
  });
  const Plan plan = plan_with(backend, std::move(module));
  Session session(plan);
  double in[2] = {1, 2}, out[2] = {7, 7}, other[2];
  void* inputs[] = {in};
  void* outputs[] = {out, other};
  // The failing thread may be descheduled before it stops the others, though not every time.
  bool stopped = false;
  for (int round = 0; round < 100 && !stopped; ++round) {
    thrown = false;
    out[0] = 7;
    EXPECT_THROW(session.run(inputs, outputs), BackendError);
    stopped = out[0] == 7;
  }
  EXPECT_TRUE(stopped);
}

TEST(Queues, TheErrorOfTheEarliestStepIsThrown) {
  Module module;
  const Value x = module.input({DType::f64, {2}, {}}, "x");
  for (int16_t i = 1; i < 4; ++i) module.output(-ops::transfer(x, {Device::Kind::cpu, i}));
  std::atomic<int> begun = 0;
  const WithHook backend([&](Device device) {  // all of them throw
    ++begun;
    while (begun < 3) std::this_thread::yield();
    throw UserError(text("error of ", device));
  });
  const Plan plan = plan_with(backend, std::move(module));
  Session session(plan);
  double in[2] = {1, 2}, out[3][2];
  void* inputs[] = {in};
  void* outputs[] = {out[0], out[1], out[2]};
  for (int round = 0; round < 20; ++round) {
    begun = 0;
    testing::expect_user_error([&] { session.run(inputs, outputs); },
                               "cpu:1: step 0, neg that may throw: error of cpu:1");
  }
}

TEST(Queues, UseTheRoundingModeOfTheCaller) {
  Module module;
  const Value x = module.input({DType::f64, {1}, {}}, "x");
  module.output(x + 1.0);
  module.output(ops::transfer(x, second) + 1.0);
  const Plan plan = plan_with(reference_backend(), std::move(module));
  ASSERT_EQ(plan.queues.size(), 2U);
  Session session(plan);
  double in[1] = {1e-20}, out[2] = {0, 0};
  void* inputs[] = {in};
  void* outputs[] = {&out[0], &out[1]};
  const int usual = std::fegetround();
  std::fesetround(FE_UPWARD);
  session.run(inputs, outputs);
  std::fesetround(usual);
  EXPECT_GT(out[0], 1);
  EXPECT_EQ(out[1], out[0]);
}

}  // namespace
}  // namespace keratin

#include <gtest/gtest.h>

#include <random>

#include "keratin/backend/reference/reference.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/transfer.h"
#include "keratin/plan/plan.h"

namespace keratin {
namespace {

// A program over several devices, full of crossings and of memory that is used again.
Module random_program(uint32_t seed, int devices, int length) {
  std::mt19937 random(seed);
  const auto any = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  Module module;
  const Value state = module.state({DType::f64, {32}}, "s");
  Values values{module.input({DType::f64, {32}}, "x"), state};
  std::vector<bool> used{true, true};
  // Mostly what was made last, so that the rest dies.
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
  }
  const auto home = [](Value v) { return v.type().device == Device{} ? v : ops::transfer(v, {}); };
  module.update(state, home(pick()));
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

TEST(Queues, SideBySideGiveWhatOneAfterTheOtherGives) {
  PlanOptions options;
  options.backends = {&reference_backend()};
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Plan plan = make_plan(random_program(seed, 2 + int(seed % 3), 60), options);
    Session session(plan);
    std::vector<double> seconds(plan.steps.size());
    const auto expected = outcome(plan, session, [&] { session.launch_timed(seconds); });
    for (int round = 0; round < 10; ++round)
      ASSERT_EQ(outcome(plan, session, [&] { session.launch(); }), expected)
          << "seed " << seed << '\n'
          << plan;
  }
}

// The reference backend, but for `neg` on one device, which throws when told to.
class Faulty final : public Backend {
 public:
  std::string_view name() const override { return "faulty"; }
  bool claims(const Node& node) const override { return reference_backend().claims(node); }
  Offer make(const Node& node, const KernelOptions& options) const override {
    Offer offer = reference_backend().make(node, options);
    if (node.name() == "neg" && node.device().index == 1)
      offer.kernel = std::make_unique<Throwing>(std::move(offer.kernel), throws);
    return offer;
  }
  mutable bool throws = true;

 private:
  class Throwing final : public Kernel {
   public:
    Throwing(std::unique_ptr<Kernel> kernel, const bool& throws)
        : kernel_(std::move(kernel)), throws_(throws) {}
    std::string describe() const override { return "neg that may throw"; }
    Launch bind(Pointers pointers) const override {
      return [this, launch = kernel_->bind(pointers)] {
        if (throws_) throw BackendError("out of memory: 8 bytes asked for");
        launch();
      };
    }

   private:
    std::unique_ptr<Kernel> kernel_;
    const bool& throws_;
  };
};

TEST(Queues, AStepThatThrowsStopsTheOthersAndTheNextRunWorks) {
  Module module;
  const Value x = module.input({DType::f64, {2}, {}}, "x");
  const Device second{Device::Kind::cpu, 1};
  Value here = x, there = -ops::transfer(x, second);
  for (int i = 0; i < 20; ++i) here = ops::tanh(here + ops::transfer(there, {}));
  module.output(here);
  const Faulty backend;
  PlanOptions options;
  options.backends = {&backend};
  const Plan plan = make_plan(std::move(module), options);
  Session session(plan);
  double in[2] = {1, 2}, out[2] = {7, 7};
  void* inputs[] = {in};
  void* outputs[] = {out};
  for (int round = 0; round < 50; ++round) {
    backend.throws = true;
    try {
      session.run(inputs, outputs);
      FAIL() << "expected an error";
    } catch (const BackendError& error) {
      EXPECT_STREQ(error.what(),
                   "cpu:1: step 0, neg that may throw: out of memory: 8 bytes asked for");
    }
    EXPECT_EQ(out[0], 7);
    backend.throws = false;
    session.run(inputs, outputs);
    EXPECT_NE(out[0], 7);
    out[0] = 7;
  }
}

}  // namespace
}  // namespace keratin

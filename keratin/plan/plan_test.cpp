#include <cmath>

#include "keratin/plan/session.h"

#include <gtest/gtest.h>

#include "keratin/backend/reference/reference.h"
#include "keratin/base/text.h"
#include "keratin/ops/registry.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using Rows = std::vector<std::vector<double>>;

Plan plan_of(std::string_view text) {
  PlanOptions options;
  options.backends = {&reference_backend()};
  return make_plan(ops::parse(text), options);
}

size_t copies(const Plan& plan) {
  size_t count = 0;
  for (const PlanStep& step : plan.steps) count += step.node == nullptr;
  return count;
}

// Runs twice on copies of the inputs, since a session must not remember them, and returns the
// results. Writes the state after one run to `inputs`.
Rows run(const Plan& plan, Rows& inputs) {
  Session session(plan);
  Rows results;
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> tensors, outputs;
    std::vector<void*> in, out;
    const auto& parameters = plan.module.block().parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      tensors.push_back(
          Tensor::of(parameters[i]->type().dtype, parameters[i]->type().shape, inputs[i]));
      in.push_back(tensors.back().raw());
    }
    for (const Value& result : plan.results()) {
      outputs.push_back(Tensor::full(result.dtype(), result.shape(), 99));
      out.push_back(outputs.back().raw());
    }
    session.run(in, out);
    Rows now;
    for (const Tensor& tensor : outputs) now.push_back(tensor.to_vector());
    if (round == 0) {
      results = now;
      continue;
    }
    EXPECT_EQ(now, results) << "the second run gives other results";
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = tensors[i].to_vector();
  }
  return results;
}

TEST(Plan, ResultsAreComputedInTheCallersMemory) {
  const Plan plan = plan_of("module(%x: f32[2]) { %a = neg(%x) return %a }");
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(copies(plan), 0);
  Rows in = {{1, 2}};
  EXPECT_EQ(run(plan, in), Rows({{-1, -2}}));
}

TEST(Plan, AChainReusesOneBuffer) {
  std::string text = "module(%x: f32[16]) { %a0 = neg(%x)\n";
  for (int i = 1; i < 50; ++i) text += keratin::text("%a", i, " = neg(%a", i - 1, ")\n");
  const Plan plan = plan_of(text + "%s = sum(%a49) {axes = [0]} return %s }");
  EXPECT_EQ(plan.arena_bytes, 64);
}

TEST(Plan, DoesNotOverwriteValuesThatAreStillRead) {
  const Plan plan = plan_of(R"(module(%x: f32[2]) {
    %a = neg(%x)
    %b = exp(%a)
    %c = add(%a, %b)
    %d = mul(%a, %a)
    %e = add(%c, %d)
    return %e
  })");
  Rows in = {{0, -1}};
  const Rows out = run(plan, in);
  EXPECT_FLOAT_EQ(out[0][0], 1);
  EXPECT_FLOAT_EQ(out[0][1], 1 + std::exp(1.0) + 1);
}

TEST(Plan, AResultThatIsReadAgainIsReadInPlace) {
  const Plan plan =
      plan_of("module(%x: f32[2]) { %a = neg(%x) %b = neg(%a) %c = add(%a, %b) return %a, %c }");
  Rows in = {{1, 2}};
  EXPECT_EQ(run(plan, in), Rows({{-1, -2}, {0, 0}}));
}

TEST(Plan, ResultsMayBeInputsConstantsViewsAndOneAnother) {
  const Plan plan = plan_of(R"(module(%x: f32[2]) {
    %c = constant() {value = f32[2] {5, 6}}
    %a = neg(%x)
    %r = reshape(%x) {shape = [2, 1]}
    %s = reshape(%a) {shape = [1, 2]}
    %t = reshape(%c) {shape = [2, 1]}
    return %x, %c, %a, %a, %r, %s, %t
  })");
  Rows in = {{1, 2}};
  EXPECT_EQ(run(plan, in), Rows({{1, 2}, {5, 6}, {-1, -2}, {-1, -2}, {1, 2}, {-1, -2}, {5, 6}}));
}

TEST(Plan, StateIsUpdatedInPlace) {
  const Plan plan = plan_of(R"(module(%x: f32[2], state %s: f32[2]) {
    %a = mul(%s, %x)
    %b = add(%s, %a)
    update %s = %b
    return
  })");
  EXPECT_EQ(copies(plan), 0);
  Rows in = {{2, 3}, {1, 1}};
  run(plan, in);
  EXPECT_EQ(in[1], std::vector<double>({3, 4}));
}

TEST(Plan, StateThatIsReadLaterIsCopiedLast) {
  const Plan plan = plan_of(R"(module(state %s: f32[2]) {
    %b = neg(%s)
    %c = mul(%s, %s)
    update %s = %b
    return %c
  })");
  Rows in = {{2, 3}};
  EXPECT_EQ(run(plan, in), Rows({{4, 9}}));
  EXPECT_EQ(in[0], std::vector<double>({-2, -3}));
}

// An index out of range is found when the program runs: no state has changed by then.
TEST(Plan, StateIsWrittenAfterEveryStepThatMayFail) {
  const Plan plan = plan_of(R"(module(state %w: f32[2], %t: f32[3], %i: i32[2]) {
    %v = neg(%w)
    %g = gather(%t, %i) {axis = 0}
    update %w = %v
    return %g
  })");
  EXPECT_EQ(copies(plan), 1);
  Rows in = {{1, 2}, {5, 6, 7}, {2, 0}};
  EXPECT_EQ(run(plan, in), Rows({{7, 5}}));
  EXPECT_EQ(in[0], std::vector<double>({-1, -2}));
  in = {{1, 2}, {5, 6, 7}, {2, 3}};
  Tensor w = Tensor::of(DType::f32, {2}, in[0]), t = Tensor::of(DType::f32, {3}, in[1]),
         i = Tensor::of(DType::i32, {2}, in[2]), out(DType::f32, {2});
  Session session(plan);
  expect_user_error(
      [&] {
        session.run(std::vector{w.raw(), t.raw(), i.raw()}, std::vector{out.raw()});
      },
      "index 3 is outside axis 0");
  EXPECT_EQ(w.to_vector(), in[0]);
}

// The gradient of a lookup scatters with the same indices.
TEST(Plan, IndicesThatWereCheckedBeforeDoNotDelayState) {
  const Plan plan = plan_of(R"(module(state %w: f32[2], state %t: f32[3], %i: i32[2]) {
    %g = gather(%t, %i) {axis = 0}
    %v = neg(%w)
    %u = scatter_add(%t, %i, %g) {axis = 0}
    update %w = %v
    update %t = %u
    return %g
  })");
  EXPECT_EQ(copies(plan), 1);  // of %t, which is not scattered into in place
  Rows in = {{1, 2}, {5, 6, 7}, {2, 0}};
  EXPECT_EQ(run(plan, in), Rows({{7, 5}}));
  EXPECT_EQ(in[1], std::vector<double>({10, 6, 14}));
}

TEST(Plan, AKernelThatCannotRunInPlaceDoesNotOverwriteState) {
  // Every element of a matmul depends on a whole row: it cannot be computed in place.
  const Plan plan = plan_of(R"(module(state %s: f32[2,2]) {
    %b = matmul(%s, %s)
    update %s = %b
    return
  })");
  Rows in = {{1, 2, 3, 4}};
  run(plan, in);
  EXPECT_EQ(in[0], std::vector<double>({7, 10, 15, 22}));
}

TEST(Plan, BroadcastStateIsNotOverwritten) {
  const Plan plan = plan_of(R"(module(%x: f32[2], state %s: f32[2]) {
    %r = reshape(%s) {shape = [2, 1]}
    %a = add(%r, %x)
    %b = sum(%a) {axes = [1]}
    update %s = %b
    return
  })");
  Rows in = {{1, 2}, {10, 20}};
  run(plan, in);
  EXPECT_EQ(in[1], std::vector<double>({23, 43}));
}

TEST(Plan, StatesCanBeExchanged) {
  const Plan plan = plan_of(R"(module(state %s: f32[1], state %t: f32[1], state %u: f32[1]) {
    update %s = %t
    update %t = %u
    update %u = %s
    return
  })");
  Rows in = {{1}, {2}, {3}};
  run(plan, in);
  EXPECT_EQ(in, Rows({{2}, {3}, {1}}));
}

TEST(Plan, OldStateMayBeAResult) {
  const Plan plan = plan_of(R"(module(state %s: f32[1]) {
    %b = neg(%s)
    update %s = %b
    return %s, %b
  })");
  Rows in = {{4}};
  EXPECT_EQ(run(plan, in), Rows({{4}, {-4}}));
  EXPECT_EQ(in, Rows({{-4}}));
}

TEST(Plan, OneValueMayBecomeSeveralStates) {
  const Plan plan = plan_of(R"(module(%x: f32[1], state %s: f32[1], state %t: f32[1]) {
    %b = neg(%x)
    update %s = %b
    update %t = %b
    return %b
  })");
  Rows in = {{4}, {0}, {0}};
  EXPECT_EQ(run(plan, in), Rows({{-4}}));
  EXPECT_EQ(in, Rows({{4}, {-4}, {-4}}));
}

TEST(Plan, StateMayBecomeAnInputAConstantAViewOrStayItself) {
  const Plan plan = plan_of(R"(module(%x: f32[1], state %s: f32[1], state %t: f32[1],
                                      state %u: f32[1], state %v: f32[1]) {
    %c = constant() {value = f32[1] {8}}
    %r = reshape(%x) {shape = [1, 1]}
    %n = neg(%r)
    %q = reshape(%n) {shape = [1]}
    update %s = %x
    update %t = %c
    update %u = %q
    update %v = %v
    return
  })");
  Rows in = {{4}, {0}, {0}, {0}, {5}};
  run(plan, in);
  EXPECT_EQ(in, Rows({{4}, {4}, {8}, {-4}, {5}}));
}

TEST(Plan, NewStateMayBeReadByTheUpdateOfAnother) {
  const Plan plan = plan_of(R"(module(%g: f32[1], state %m: f32[1], state %w: f32[1]) {
    %nm = add(%m, %g)
    %nw = sub(%w, %nm)
    update %m = %nm
    update %w = %nw
    return
  })");
  EXPECT_EQ(copies(plan), 0);
  Rows in = {{1}, {2}, {10}};
  run(plan, in);
  EXPECT_EQ(in, Rows({{1}, {3}, {7}}));
}

TEST(Plan, UnusedOutputsTakeNoMemory) {
  const Plan plan = plan_of(R"(module(%x: f32[1000], %p: bool[]) {
    %a, %b = cond(%p, %x) do(%y: f32[1000]) { %z = neg(%y) %s = sum(%y) {axes = [0]} yield %s, %z }
                          do(%y: f32[1000]) { %s = sum(%y) {axes = [0]} yield %s, %y }
    return %a
  })");
  ASSERT_FALSE(plan.steps.empty());
  EXPECT_EQ(plan.steps[0].slots[3].kind, Slot::Kind::none);
}

TEST(Plan, AKernelThatCannotRunInPlaceDoesNotOverwriteItsInput) {
  const Plan plan = plan_of(R"(module(%x: f32[2,2]) {
    %a = neg(%x)
    %b = matmul(%a, %a)
    %c = neg(%b)
    return %c
  })");
  Rows in = {{1, 2, 3, 4}};
  EXPECT_EQ(run(plan, in), Rows({{-7, -10, -15, -22}}));
}

// Runs nothing, and would write any output over any input.
class AlwaysInPlace final : public Backend {
  class Nothing final : public Kernel {
    std::string describe() const override { return "nothing"; }
    bool in_place(size_t, size_t) const override { return true; }
    Launch bind(Pointers) const override {
      return [] {};
    }
  };
  std::string_view name() const override { return "always in place"; }
  bool claims(const Node&) const override { return true; }
  Choice make(const Node&, const KernelOptions&) const override {
    return {.kernel = std::make_unique<Nothing>()};
  }
};

Plan plan_in_place(std::string_view text) {
  static const AlwaysInPlace backend;
  PlanOptions options;
  options.backends = {&backend};
  return make_plan(ops::parse(text), options);
}

TEST(Plan, TwoOutputsNeverOverwriteOneInput) {
  const Plan plan = plan_in_place(R"(module(%x: f32[2]) {
    %a = neg(%x)
    %b, %c = fused(%a) do(%y: f32[2]) { %0 = exp(%y) %1 = log(%y) yield %0, %1 }
    %d = add(%b, %c)
    return %d
  })");
  const std::vector<Slot>& slots = plan.steps[1].slots;  // %a, %b, %c
  EXPECT_EQ(slots[0], slots[1]);
  EXPECT_FALSE(slots[1] == slots[2]);
}

TEST(Plan, ALargerOutputNeverOverwritesAnInput) {
  const Plan plan = plan_in_place(R"(module(%x: f32[64]) {
    %a = neg(%x)
    %b = cast(%a) {dtype = f64}
    %c = neg(%b)
    return %c
  })");
  EXPECT_FALSE(plan.steps[1].slots[0] == plan.steps[1].slots[1]);
}

// The carry is read and written in one step: the output needs memory of its own.
TEST(Plan, ALoopOfOneStepIsNotInPlace) {
  const Plan plan = plan_of(R"(module(%x: f32[2,2]) {
    %a = neg(%x)
    %b = scan(%a) {carries = 1, length = 1} do(%c: f32[2,2]) { %d = matmul(%c, %c) yield %d }
    %e = neg(%b)
    return %e
  })");
  Rows in = {{1, 2, 3, 4}};
  EXPECT_EQ(run(plan, in), Rows({{-7, -10, -15, -22}}));
}

TEST(Plan, ALoopOfNoStepsReturnsItsCarry) {
  const Plan plan = plan_of(R"(module(%x: f32[2], %xs: f32[0,2]) {
    %b = scan(%x, %xs) {carries = 1, xs = 1} do(%c: f32[2], %s: f32[2]) { %d = add(%c, %s) yield %d }
    return %b
  })");
  Rows in = {{1, 2}, {}};
  EXPECT_EQ(run(plan, in), Rows({{1, 2}}));
}

TEST(Plan, AcceptsEmptyTensors) {
  const Plan plan =
      plan_of("module(%x: f32[0,3]) { %a = neg(%x) %s = sum(%a) {axes = [0]} return %a, %s }");
  Rows in = {{}};
  EXPECT_EQ(run(plan, in), Rows({{}, {0, 0, 0}}));
}

TEST(Plan, RowsOfAnInputAreReadInPlace) {
  const Plan plan = plan_of(R"(module(%x: f32[4,2]) {
    %a = slice(%x) {start = [1, 0], limit = [4, 2], step = [1, 1]}
    %b = slice(%a) {start = [1, 0], limit = [2, 2], step = [1, 1]}
    %c = neg(%b)
    return %a, %c
  })");
  EXPECT_EQ(plan.steps.size(), 2U) << plan;
  EXPECT_EQ(copies(plan), 1U) << plan;
  Rows in = {{1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(run(plan, in), Rows({{3, 4, 5, 6, 7, 8}, {-5, -6}}));
}

TEST(Plan, OtherSlicesAreSteps) {
  const auto sliced = [](const char* source, const char* window) {
    return ops::parse(text("module(%x: f32[4,2]) { %a = exp(%x) %b = slice(%", source, ") {",
                           window, "} %c = neg(%b) return %a, %c }"));
  };
  const auto steps = [](Module module) {
    PlanOptions options;
    options.backends = {&reference_backend()};
    return make_plan(std::move(module), options).steps.size();
  };
  constexpr const char* rows = "start = [2, 0], limit = [4, 2], step = [1, 1]";
  EXPECT_EQ(steps(sliced("x", rows)), 2U);
  EXPECT_EQ(steps(sliced("a", rows)), 3U);
  EXPECT_EQ(steps(sliced("x", "start = [0, 1], limit = [4, 2], step = [1, 1]")), 3U);
  EXPECT_EQ(steps(sliced("x", "start = [0, 0], limit = [4, 2], step = [2, 1]")), 3U);
  // Kernels of a GPU read aligned memory only.
  Module on_gpu = sliced("x", rows);
  for (const auto& parameter : on_gpu.block().parameters()) parameter->place(Device("gpu:0"));
  for (const auto& node : on_gpu.block().nodes()) node->place(Device("gpu:0"));
  EXPECT_EQ(steps(std::move(on_gpu)), 3U);
}

// Rows of a state are copied, so that the state can be updated in place before they are read.
TEST(Plan, RowsOfAStateAreCopiedBeforeItChanges) {
  const Plan plan = plan_of(R"(module(state %s: f32[2,2]) {
    %a = slice(%s) {start = [1, 0], limit = [2, 2], step = [1, 1]}
    %n = neg(%s)
    %b = neg(%a)
    update %s = %n
    return %b
  })");
  EXPECT_EQ(copies(plan), 0U) << plan;
  Rows in = {{1, 2, 3, 4}};
  EXPECT_EQ(run(plan, in), Rows({{-3, -4}}));
  EXPECT_EQ(in, Rows({{-1, -2, -3, -4}}));
}

TEST(Plan, ALongChainOfViewsCostsLittle) {
  std::string text = "module(%x: f32[4]) { %a0 = reshape(%x) {shape = [2, 2]}\n";
  for (int i = 1; i < 50000; ++i)
    text += keratin::text("%a", i, " = reshape(%a", i - 1, ") {shape = [",
                          i % 2 == 0 ? "2, 2" : "4", "]}\n");
  const Plan plan = plan_of(text + "return %a49999 }");
  Rows in = {{1, 2, 3, 4}};
  EXPECT_EQ(run(plan, in), Rows({{1, 2, 3, 4}}));
}

TEST(Plan, RefusesUnknownSizesAndNodesWithoutABackend) {
  expect_user_error([] { plan_of("module(%x: f32[?]) { %a = neg(%x) return %a }"); },
                    {"sizes must be known", "'x'", "f32[?]"});
  expect_user_error([] { plan_of("module(%x: f32[?]) { return %x }"); },
                    {"sizes must be known", "f32[?]"});
  PlanOptions no_backends;
  EXPECT_THROW(make_plan(ops::parse("module(%x: f32[2]) { %a = neg(%x) return %a }"), no_backends),
               BackendError);
}

TEST(Plan, PrintsItsSteps) {
  const std::string printed = text(plan_of("module(%x: f32[2]) { %a = neg(%x) return %a, %x }"));
  for (const char* part : {"2 steps", "reference neg", "in0", "out0", "copy 8 bytes"})
    EXPECT_NE(printed.find(part), std::string::npos) << printed;
}

}  // namespace
}  // namespace keratin

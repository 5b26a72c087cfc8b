#include "keratin/plan/dependencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"

namespace keratin {
namespace {

// Kernels that are planned for and never run.
class PlannedKernel final : public Kernel {
 public:
  explicit PlannedKernel(const Node& node) : node_(node) {}
  std::string describe() const override { return std::string(node_.name()); }
  size_t scratch_bytes() const override { return node_.input_count() == 2 ? 100 : 0; }
  bool in_place(size_t, size_t) const override { return node_.input_count() == 1; }
  Launch bind(Pointers) const override {
    return [] {};
  }

 private:
  const Node& node_;
};

class PlanningBackend final : public Backend {
 public:
  std::string_view name() const override { return "planning"; }
  bool claims(const Node&) const override { return true; }
  Choice make(const Node& node, const KernelOptions&) const override {
    return {.kernel = std::make_unique<PlannedKernel>(node)};
  }
};

Plan planned(std::string_view text, bool gpu = false) {
  static const PlanningBackend backend;
  PlanOptions options;
  options.backends = {&backend};
  if (gpu) options.gpu_backends = {&backend};
  Module m = ops::parse(text);
  if (gpu) {
    for (const auto& parameter : m.block().parameters()) parameter->place({Device::Kind::gpu, 0});
    for (const auto& node : m.block().nodes()) node->place({Device::Kind::gpu, 0});
  }
  return make_plan(std::move(m), options);
}

TEST(Dependencies, AStepWaitsForTheStepsThatComputeItsInputs) {
  EXPECT_EQ(find_dependencies(planned(R"(module(%x: f32[2]) {
    %a = mul(%x, %x)
    %b = add(%x, %x)
    %c = add(%a, %b)
    return %a, %b, %c
  })",
                                      true)),
            (Dependencies{{}, {}, {1, 0}}));
}

TEST(Dependencies, LeaveOutWhatFollowsFromOthers) {
  EXPECT_EQ(find_dependencies(planned(R"(module(%x: f32[2]) {
    %a = mul(%x, %x)
    %b = add(%a, %x)
    %c = add(%a, %b)
    return %a, %b, %c
  })")),
            (Dependencies{{}, {0}, {1}}));
}

TEST(Dependencies, StateIsWrittenAfterItsReaders) {
  EXPECT_EQ(find_dependencies(planned(R"(module(%x: f32[2], state %s: f32[2]) {
    %a = add(%s, %x)
    %b = mul(%s, %x)
    %n = neg(%s)
    update %s = %n
    return %a, %b
  })",
                                      true)),
            (Dependencies{{}, {}, {1, 0}}));
}

// If %b reused the memory of %a, it would wait for the reader of %a.
TEST(Dependencies, AGpuDoesNotReuseASmallArena) {
  const char* program = R"(module(%x: f32[64]) {
    %a = mul(%x, %x)
    %r = add(%a, %x)
    %b = add(%x, %x)
    %s = mul(%b, %x)
    return %r, %s
  })";
  EXPECT_EQ(find_dependencies(planned(program)), (Dependencies{{}, {0}, {1}, {2}}));
  EXPECT_EQ(find_dependencies(planned(program, true)), (Dependencies{{}, {0}, {}, {2}}));
}

// Simulated memory, one number for each 64 bytes: what a step writes depends on all that it reads.
class Memory {
 public:
  explicit Memory(const Plan& plan) : plan_(plan) {}

  void run(size_t index) {
    const PlanStep& step = plan_.steps[index];
    size_t seen = index;
    for (size_t s = 0; s < step.input_count(); ++s)
      each(step.slots[s], [&](size_t& cell) { seen = seen * 0x9e3779b97f4a7c15ULL + cell + 1; });
    for (size_t s = step.input_count(); s < step.slots.size(); ++s)
      each(step.slots[s], [&](size_t& cell) { cell = seen + s; });
  }

  // Compares inputs and outputs only.
  bool operator==(const Memory& other) const {
    const auto seen = [](auto cells) {
      std::erase_if(cells, [](const auto& p) {
        return p.first[0] == static_cast<size_t>(Slot::Kind::arena);
      });
      return cells;
    };
    return seen(cells_) == seen(other.cells_);
  }

 private:
  template <class Visit>
  void each(const Slot& slot, const Visit& visit) {
    if (slot.kind == Slot::Kind::none) return;
    for (size_t at = slot.offset; at < slot.offset + slot.bytes; at += 64)
      visit(cells_[{static_cast<size_t>(slot.kind), slot.index, at / 64}]);
  }

  const Plan& plan_;
  std::map<std::array<size_t, 3>, size_t> cells_;
};

std::string random_program(std::mt19937& random) {
  const auto below = [&](size_t n) { return random() % n; };
  std::vector<std::string> small = {"%x", "%s", "%t", "%w"}, large = {"%y", "%u"};
  std::string body;
  for (int i = 0; i < 40; ++i) {
    auto& values = below(3) == 0 ? large : small;
    const auto any = [&] {
      return values[values.size() - 1 - below(std::min<size_t>(values.size(), 6))];
    };
    const std::string name = text("%v", i);
    body += below(2) == 0 ? text(name, " = neg(", any(), ")\n")
                          : text(name, " = add(", any(), ", ", any(), ")\n");
    values.push_back(name);
  }
  return text(R"(module(%x: f32[100], %y: f32[1000], state %s: f32[100], state %t: f32[100],
                        state %u: f32[1000], state %w: f32[100]) {)",
              "\n", body, "update %s = ", small[below(small.size())],
              "\nupdate %t = ", small.back(), "\nupdate %u = ", large[below(large.size())],
              "\nreturn ", small[below(small.size())], ", ", large.back(), "\n}");
}

// One of the orders that the dependencies allow.
std::vector<size_t> random_order(const Dependencies& after, std::mt19937& random) {
  std::vector<size_t> order, left(after.size());
  std::iota(left.begin(), left.end(), 0);
  std::vector<bool> over(after.size());
  while (!left.empty()) {
    const size_t pick = random() % left.size(), step = left[pick];
    if (!std::all_of(after[step].begin(), after[step].end(), [&](size_t s) { return over[s]; }))
      continue;
    order.push_back(step);
    over[step] = true;
    left.erase(left.begin() + static_cast<int64_t>(pick));
  }
  return order;
}

TEST(Dependencies, AllowOnlyOrdersWithTheSameResults) {
  std::mt19937 random(7);
  size_t moved = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string program = random_program(random);
    const Plan plan = planned(program, round % 2 == 0);
    const Dependencies after = find_dependencies(plan);
    Memory expected(plan);
    for (size_t i = 0; i < plan.steps.size(); ++i) expected.run(i);
    for (int k = 0; k < 5; ++k) {
      Memory memory(plan);
      const std::vector<size_t> order = random_order(after, random);
      for (const size_t step : order) memory.run(step);
      ASSERT_EQ(memory, expected) << program << plan;
      moved += !std::is_sorted(order.begin(), order.end());
    }
  }
  EXPECT_GT(moved, 500u);  // the orders differ
}

TEST(Dependencies, LaterRunsNeedNoStableSteps) {
  std::mt19937 random(8);
  size_t skipped = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string program = random_program(random);
    const Plan plan = planned(program, true);
    const Dependencies after = find_repeated_dependencies(plan);
    Memory expected(plan), memory(plan);
    for (size_t i = 0; i < plan.steps.size(); ++i) memory.run(i);
    for (int run = 0; run < 3; ++run)
      for (size_t i = 0; i < plan.steps.size(); ++i) expected.run(i);
    for (int run = 1; run < 3; ++run)
      for (const size_t step : random_order(after, random)) memory.run(plan.stable_steps + step);
    ASSERT_EQ(memory, expected) << program << plan;
    skipped += plan.stable_steps;
  }
  EXPECT_GT(skipped, 200u);
}

}  // namespace
}  // namespace keratin

#include <algorithm>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/engine/executable.h"
#include "keratin/ops/records.h"
#include "keratin/plan/plan.h"

namespace keratin {
namespace {

void add_ops(const Node& node, std::vector<std::string>& ops) {
  if (&node.op() == &ops::constant_op) return;
  if (&node.op() != &ops::fused_op) {
    ops.emplace_back(node.name());
    return;
  }
  for (const auto& fused : node.region().nodes()) add_ops(*fused, ops);
}

std::vector<std::string> ops_of(const PlanStep& step) {
  std::vector<std::string> ops;
  if (step.node != nullptr && step.preparation == nullptr) add_ops(*step.node, ops);
  return ops;
}

// The bytes of `count` slots from `first` on.
size_t bytes_in(const PlanStep& step, size_t first, size_t count) {
  size_t bytes = 0;
  for (size_t i = first; i < std::min(first + count, step.slots.size()); ++i)
    bytes += step.slots[i].bytes;
  return bytes;
}

Executable::StepInfo info_of(const PlanStep& step) {
  const size_t inputs = step.input_count(), outputs = step.output_count();
  Executable::StepInfo info{.kernel = step.name,
                            .description = step.kernel->describe(),
                            .ops = ops_of(step),
                            .device = step.device,
                            .output_bytes = bytes_in(step, inputs, outputs),
                            .scratch_bytes = bytes_in(step, inputs + outputs, 1),
                            .flops = flops(step)};
  if (step.node != nullptr && step.node->origin()) info.layer = *step.node->origin();
  // A preparation leaves its result where other steps have scratch memory.
  if (step.preparation != nullptr) std::swap(info.output_bytes, info.scratch_bytes);
  const size_t prepared = bytes_in(step, inputs + outputs + 1, 1);
  info.bytes = static_cast<double>(bytes_in(step, 0, inputs) + prepared + info.output_bytes);
  for (const Refusal& refusal : step.refused)
    info.refused.push_back({refusal.kernel, refusal.reason});
  return info;
}

}  // namespace

std::vector<Executable::StepInfo> Executable::explain() const {
  std::vector<StepInfo> all;
  for (size_t i = 0; i < plan().steps.size(); ++i) {
    all.push_back(info_of(plan().steps[i]));
    all.back().stable = i < plan().stable_steps;
  }
  return all;
}

}  // namespace keratin

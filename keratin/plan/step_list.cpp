#include "keratin/plan/step_list.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/ops/stable_values.h"
#include "keratin/plan/control_flow.h"

namespace keratin {

namespace {

bool needs_step(const Node& node, const Storage& storage) {
  return !storage.is_alias(node) && &node.op() != &ops::constant_op;
}

void require_known_sizes(const Block& block) {
  for (const auto& parameter : block.parameters())
    require(parameter->type().shape.known(), "plan: all sizes must be known, the parameter '",
            parameter->attr<ParameterAttrs>().name, "' is ", parameter->type());
  for (const auto& node : block.nodes())
    for (const Type& type : node->types())
      require(type.shape.known(), "plan: all sizes must be known, '", node->name(), "' gives ",
              type);
}

// The device that runs all steps, if there is one.
std::optional<Device> find_only_device(const Block& block, const Storage& storage) {
  std::optional<Device> first;
  for (const auto& node : block.nodes()) {
    if (!needs_step(*node, storage)) continue;
    if (!first) first = node->device();
    if (node->device() != *first) return std::nullopt;
  }
  return first;
}

// The preparation of a step, if it has one, and the step.
void add_steps(std::vector<PlanStep>& steps, const Node& node, Choice choice) {
  const auto* prepared = dynamic_cast<const PreparedKernel*>(choice.kernel.get());
  if (auto preparation = prepared != nullptr ? prepared->preparation() : nullptr) {
    const Preparation* known = preparation.get();
    steps.push_back({.node = &node,
                     .kernel = std::move(preparation),
                     .name = text(choice.name, ", preparation"),
                     .device = node.device(),
                     .preparation = known});
  }
  steps.push_back({.node = &node,
                   .kernel = std::move(choice.kernel),
                   .name = std::move(choice.name),
                   .refused = std::move(choice.refused),
                   .device = node.device()});
}

bool is_stable(const PlanStep& step, const StableValues& stable) {
  if (step.preparation == nullptr) return stable.contains(step.node->out());
  for (size_t i = 0; i < step.input_count(); ++i)
    if (step.preparation->reads(i) && !stable.contains(step.node->in(i))) return false;
  return true;
}

}  // namespace

Choice choose_kernel(const Node& node, const PlanOptions& options, const KernelOptions& kernels) {
  if (auto kernel = make_control_flow(node, options))
    return {.kernel = std::move(kernel), .name = text("plan: ", node.name())};
  std::vector<Refusal> refused;
  // Of two devices, the one with memory of its own can transfer.
  const bool leaves_gpu =
      &node.op() == &ops::transfer_op && node.in().type().device.kind == Device::Kind::gpu;
  for (const Backend* backend : options.of(leaves_gpu ? node.in().type().device : node.device())) {
    Choice choice = backend->make(node, kernels);
    for (Refusal& refusal : choice.refused)
      refused.push_back({text(backend->name(), ": ", refusal.kernel), std::move(refusal.reason)});
    if (choice.kernel) {
      choice.name =
          text(backend->name(), ": ", choice.name.empty() ? std::string(node.name()) : choice.name);
      choice.refused = std::move(refused);
      return choice;
    }
  }
  std::string reasons;
  for (const Refusal& refusal : refused)
    reasons += text("; ", refusal.kernel, ": ", refusal.reason);
  throw BackendError(text("plan: no backend runs '", node.name(), "'", reasons));
}

void make_steps(Plan& plan, const PlanOptions& options, const Storage& storage) {
  const Block& block = plan.module.block();
  require_known_sizes(block);
  KernelOptions kernels = static_cast<const KernelOptions&>(options);
  std::optional<StableValues> stable;
  const std::optional<Device> device = find_only_device(block, storage);
  plan.keeps_values = device && options.keeps_values && !options.has_own_memory(*device);
  if (plan.keeps_values || (device && options.has_own_memory(*device))) {
    stable.emplace(plan.module);
    kernels.is_stable = [&](const Value& value) { return stable->contains(value); };
  }
  for (const auto& node : block.nodes())
    if (needs_step(*node, storage))
      add_steps(plan.steps, *node, choose_kernel(*node, options, kernels));
  if (!stable) return;
  const auto others =
      std::stable_partition(plan.steps.begin(), plan.steps.end(),
                            [&](const PlanStep& step) { return is_stable(step, *stable); });
  plan.stable_steps = static_cast<size_t>(others - plan.steps.begin());
}

}  // namespace keratin

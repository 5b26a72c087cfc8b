#include "keratin/plan/lifetimes.h"

#include "keratin/ops/records.h"

namespace keratin {

Lifetimes::Lifetimes(const Plan& plan, const Storage& storage)
    : storage_(storage), lifetimes_(storage.count()) {
  for (size_t i = 0; i < plan.steps.size(); ++i) use_inputs(plan.steps[i], i);
  // Later runs skip stable steps and read their outputs.
  for (size_t i = 0; i < plan.stable_steps; ++i)
    if (plan.steps[i].preparation == nullptr)
      for (const Value& output : plan.steps[i].node->outputs())
        if (of(output).last_use >= plan.stable_steps) of(output).last_use = forever;
  for (const Value& result : plan.results()) use(result, forever);
  for (const Update& update : plan.module.updates()) use(update.value, forever);
}

// A step of another device that reads memory would make the next user of that memory wait. A
// transfer is over soon.
void Lifetimes::use_inputs(const PlanStep& step, size_t index) {
  for (size_t i = 0; i < step.input_count(); ++i) {
    if (step.preparation != nullptr && !step.preparation->reads(i)) continue;
    const Value input = step.node->in(i);
    use(input, index);
    if (storage_.owner(input).type().device != step.device && &step.node->op() != &ops::transfer_op)
      of(input).read_by_other_device = true;
  }
}

// Called in the order of the steps: the last use stays.
void Lifetimes::use(Value value, size_t step) {
  Lifetime& lifetime = of(value);
  lifetime.used = true;
  lifetime.last_use = step;
}

}  // namespace keratin

#include "keratin/plan/plan.h"

#include "keratin/plan/arena_slots.h"
#include "keratin/plan/caller_slots.h"
#include "keratin/plan/failures.h"
#include "keratin/plan/kept_values.h"
#include "keratin/plan/step_list.h"
#include "keratin/plan/waits.h"

namespace keratin {

namespace {

// Devices that only take part in a collective, which runs on one of them, have a queue too: it has
// memory for their results.
void fill_queues(Plan& plan, QueueArenas& arenas) {
  for (size_t i = 0; i < plan.steps.size(); ++i)
    plan.queues[arenas.queue_of(plan.steps[i].device)].steps.push_back(i);
  for (const PlanStep& step : plan.steps)
    if (step.node != nullptr)
      for (const Type& type : step.node->types()) arenas.queue_of(type.device);
}

}  // namespace

Plan make_plan(Module module, const PlanOptions& options) {
  Plan plan{.module = std::move(module),
            .concurrent_queues = options.concurrent_queues,
            .pool = options.pool};
  const Storage storage(plan.module.block());
  make_steps(plan, options, storage);
  const std::optional<size_t> last_failure = find_failures(plan, options);
  const Lifetimes lifetimes(plan, storage);
  QueueArenas arenas(plan, options);
  SlotTable slots(storage);
  const FinalCopies copies =
      assign_caller_slots(plan, options, storage, lifetimes, last_failure, slots, arenas);
  assign_arena_slots(plan, storage, lifetimes, slots, arenas);
  append_copies(plan, options, copies, slots);
  arenas.finish();
  fill_queues(plan, arenas);
  finish_kept_values(plan);
  find_waits(plan);
  return plan;
}

}  // namespace keratin

#pragma once

#include "keratin/plan/lifetimes.h"
#include "keratin/plan/queue_arenas.h"
#include "keratin/plan/slot_table.h"

namespace keratin {

// Copies that run after all other steps: to results, then to state, since a result may be old
// state.
struct FinalCopies {
  struct Copy {
    Value from;
    Slot to;
    // Where the value is saved first: state that becomes another state may be exchanged with it.
    std::optional<Slot> saved = std::nullopt;
  };
  std::vector<Copy> results, state;
};

// Gives slots to the values that are stored outside the arenas: parameters, constants, results, and
// new state where it can be computed in place. `last_failure` is the last step that may fail.
FinalCopies assign_caller_slots(Plan& plan, const PlanOptions& options, const Storage& storage,
                                const Lifetimes& lifetimes, std::optional<size_t> last_failure,
                                SlotTable& slots, QueueArenas& arenas);

// Appends the steps that make these copies, once all values have slots.
void append_copies(Plan& plan, const PlanOptions& options, const FinalCopies& copies,
                   const SlotTable& slots);

}  // namespace keratin

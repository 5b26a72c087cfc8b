#pragma once

#include "keratin/plan/lifetimes.h"
#include "keratin/plan/queue_arenas.h"
#include "keratin/plan/slot_table.h"

namespace keratin {

// Gives slots in the arenas to all values that have none yet, step by step: a value takes memory
// when its step runs, and gives it back after its last use. Then writes the slots into the steps.
void assign_arena_slots(Plan& plan, const Storage& storage, const Lifetimes& lifetimes,
                        SlotTable& slots, QueueArenas& arenas);

}  // namespace keratin

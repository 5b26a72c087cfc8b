#include "keratin/plan/slot_table.h"

namespace keratin {

bool may_overwrite(const PlanStep& step, const Storage& storage, Value owner, size_t output) {
  for (size_t i = 0; i < step.node->input_count(); ++i)
    if (storage.owner(step.node->in(i)) == owner && !step.kernel->in_place(i, output)) return false;
  return true;
}

}  // namespace keratin

#pragma once

#include "keratin/plan/device_queue.h"
#include "keratin/plan/plan.h"

namespace keratin {

// What each step of a plan must wait for where steps may run at the same time. What follows from
// other dependencies is left out, as far as it is near.
Dependencies find_dependencies(const Plan& plan);
// The same of the steps after those of Plan::once, which are over.
Dependencies find_repeated_dependencies(const Plan& plan);

}  // namespace keratin

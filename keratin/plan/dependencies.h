#pragma once

#include "keratin/plan/device_queue.h"
#include "keratin/plan/plan.h"

namespace keratin {

// For each step of a plan, the steps that it must wait for where steps may run at the same time.
// Dependencies that follow from others are left out, unless the steps are far apart.
Dependencies find_dependencies(const Plan& plan);
// The same for the steps after the stable ones, which are finished already.
Dependencies find_repeated_dependencies(const Plan& plan);

}  // namespace keratin

#pragma once

#include "keratin/plan/plan.h"

namespace keratin {

// A kernel for a node that runs other nodes, a loop or a branch: a plan within the plan, whose
// arena is in the step's scratch memory. nullptr for every other node.
std::unique_ptr<Kernel> make_control_flow(const Node& node, const PlanOptions& options);

}  // namespace keratin

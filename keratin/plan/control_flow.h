#pragma once

#include "keratin/plan/plan.h"

namespace keratin {

// Nodes that run other nodes (loops, branches) are run by the plan itself: a plan within the plan,
// with its arena in the step's scratch memory. nullptr for every other node.
std::unique_ptr<Kernel> make_control_flow(const Node& node, const PlanOptions& options);

}  // namespace keratin

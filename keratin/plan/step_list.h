#pragma once

#include "keratin/plan/plan.h"
#include "keratin/plan/storage.h"

namespace keratin {

// The best kernel for a node among the backends of its device. BackendError if there is none.
Choice choose_kernel(const Node& node, const PlanOptions& options, const KernelOptions& kernels);

// Makes the steps of a plan: one for each node that is no alias and no constant, with its kernel,
// and one for each preparation. Steps that depend on stable values only come first; they are
// counted in `stable_steps`. Slots are assigned later.
void make_steps(Plan& plan, const PlanOptions& options, const Storage& storage);

}  // namespace keratin

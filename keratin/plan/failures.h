#pragma once

#include <optional>

#include "keratin/plan/plan.h"

namespace keratin {

// Marks the steps that an index out of range makes throw, and returns the last of them. A device
// with memory of its own cannot throw: the indices that callers pass to it are added to
// `Plan::index_inputs`.
std::optional<size_t> find_failures(Plan& plan, const PlanOptions& options);

}  // namespace keratin

#pragma once

#include <functional>
#include <optional>

#include "keratin/plan/plan.h"

namespace keratin {

// Finds the steps that an index may make throw, which are marked, and returns the last one. For a
// device that cannot throw it lists the indices that callers give to it, `Plan::index_inputs`.
std::optional<size_t> find_failures(Plan& plan, const std::function<bool(Device)>& cannot_throw);

}  // namespace keratin

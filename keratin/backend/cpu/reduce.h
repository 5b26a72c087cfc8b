#pragma once

#include "keratin/plan/backend.h"

// Reductions over any axes.
namespace keratin::cpu {

Offer make_sum(const Node& node, const KernelOptions& options);
Offer make_prod(const Node& node, const KernelOptions& options);
Offer make_max(const Node& node, const KernelOptions& options);  // and any
Offer make_min(const Node& node, const KernelOptions& options);  // and all
Offer make_argmax(const Node& node, const KernelOptions& options);
Offer make_argmin(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

#pragma once

#include "keratin/plan/backend.h"

// Pooling, channels last.
namespace keratin::cpu {

Offer make_max_pool(const Node& node, const KernelOptions& options);
Offer make_max_unpool(const Node& node, const KernelOptions& options);
Offer make_avg_pool(const Node& node, const KernelOptions& options);
Offer make_avg_pool_grad(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

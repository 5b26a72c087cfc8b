#pragma once

#include "keratin/plan/backend.h"

// Orders and running totals along an axis, and random words.
namespace keratin::cpu {

bool claims_sort(const Node& node);
Offer make_sort(const Node& node, const KernelOptions& options);
Offer make_argsort(const Node& node, const KernelOptions& options);
Offer make_top_k(const Node& node, const KernelOptions& options);

Offer make_cumsum(const Node& node, const KernelOptions& options);
Offer make_cumprod(const Node& node, const KernelOptions& options);

Offer make_random_bits(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

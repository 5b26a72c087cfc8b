#pragma once

#include "keratin/plan/backend.h"

// Ops that move elements: each is one or more strided copies, and a fill where there is padding.
namespace keratin::cpu {

Offer make_transpose(const Node& node, const KernelOptions& options);
Offer make_broadcast_to(const Node& node, const KernelOptions& options);
Offer make_slice(const Node& node, const KernelOptions& options);
Offer make_reverse(const Node& node, const KernelOptions& options);
Offer make_pad(const Node& node, const KernelOptions& options);
Offer make_concat(const Node& node, const KernelOptions& options);
Offer make_dynamic_slice(const Node& node, const KernelOptions& options);
Offer make_dynamic_update_slice(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

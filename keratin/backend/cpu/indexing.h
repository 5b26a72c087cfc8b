#pragma once

#include "keratin/plan/backend.h"

// Reading and adding at computed positions.
namespace keratin::cpu {

Offer make_gather(const Node& node, const KernelOptions& options);
Offer make_take_along_axis(const Node& node, const KernelOptions& options);
Offer make_scatter_add(const Node& node, const KernelOptions& options);
Offer make_scatter_add_along_axis(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

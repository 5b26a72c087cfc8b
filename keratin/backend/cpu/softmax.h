#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cpu {

Offer make_softmax(const Node& node, const KernelOptions& options);
Offer make_log_softmax(const Node& node, const KernelOptions& options);
Offer make_softmax_grad(const Node& node, const KernelOptions& options);
Offer make_log_softmax_grad(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

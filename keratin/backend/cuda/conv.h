#pragma once

#include "keratin/plan/backend.h"

namespace keratin::cuda {

// Convolutions and their gradients as matrix products: the inputs under each window side by side,
// times the filter. nullptr where that does not apply (groups, too large), and for other ops.
std::unique_ptr<Kernel> make_conv_product(const Node& node, const KernelOptions& options);

}  // namespace keratin::cuda

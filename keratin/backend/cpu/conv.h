#pragma once

#include "keratin/backend/cpu/tile/conv.h"
#include "keratin/plan/backend.h"

namespace keratin::cpu {

// The convolution behind a conv, conv_grad_input or conv_grad_filter node.
ConvDesc describe_conv(const Node& node);

Offer make_conv_forward(const Node& node, const KernelOptions& options);
Offer make_conv_grad_input(const Node& node, const KernelOptions& options);
Offer make_conv_grad_filter(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu

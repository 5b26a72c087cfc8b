#pragma once

#include "keratin/backend/cpu/tile/conv.h"
#include "keratin/plan/kernel.h"

namespace keratin::cpu {

// The convolution behind a conv, conv_grad_input or conv_grad_filter node.
ConvDesc describe_conv(const Node& node);

}  // namespace keratin::cpu

#pragma once

#include "keratin/backend/cpu/packing.h"
#include "keratin/backend/cpu/tile/conv.h"

namespace keratin::cpu {

// The convolution behind a conv, conv_grad_input or conv_grad_filter node.
ConvDesc describe_conv(const Node& node);

// Whether a preparation should pack the filter of a forward convolution.
bool prepares_filter(Value filter, const ConvDesc& desc, const ConvOptions& conv,
                     const KernelOptions& options);
// The preparation, which packs this input of a node for the convolution, which must live as long.
std::unique_ptr<Preparation> filter_preparation(const Node& node, size_t input, const Conv& conv);

}  // namespace keratin::cpu

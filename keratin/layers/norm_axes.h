#pragma once

#include "keratin/graph/config.h"

// The axes of normalization layers.
namespace keratin::norm_axes {

// The axes, made non-negative, in the given order. The input must have them, with known sizes.
Dims checked(const Layer& layer, const Shape& input, const Sizes& axes);
// The sizes of those axes: the shape of their weights.
Dims sizes(const Shape& input, const Dims& axes);

}  // namespace keratin::norm_axes

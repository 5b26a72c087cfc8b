#pragma once

#include "keratin/graph/config.h"

// The axes of normalising layers.
namespace keratin::norm_axes {

// The axes, not negative, in the order given. Each must be one of the input's, of known size.
Dims checked(const Layer& layer, const Shape& input, const Sizes& axes);
// The sizes of those axes: the shape of their weights.
Dims sizes(const Shape& input, const Dims& axes);

}  // namespace keratin::norm_axes

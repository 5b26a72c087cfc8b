#pragma once

#include "keratin/ir/node.h"

// The gradients that pointwise ops share with others.
namespace keratin::ops {

// Sums a gradient over the axes along which its input was broadcast.
Value sum_to(Value dy, const Shape& shape);
// For an op of two inputs: both gradients, summed to the inputs' shapes.
Values unbroadcast(const Node& n, Value da, Value db);

// No gradient flows back, because the op is piecewise constant or gives integers.
Values no_gradient(const Node& n, const Values& dy);

}  // namespace keratin::ops

#pragma once

#include "keratin/ir/node.h"
#include "keratin/ops/norm.h"

// Shared by the normalisations. A parameter (scale, offset, statistic) belongs to some axes of x
// and has their sizes.
namespace keratin::ops {

// Checks that x has floats and these axes.
void check_norm(const Node& n, const Dims& axes, double epsilon);
// Checks that input i has the sizes of those axes of x, and the dtype.
void check_parameter(const Node& n, size_t i, std::string_view what, const Dims& axes, DType dtype);
void check_inputs(const Node& n, size_t expected);

Dims other_axes(const Shape& shape, const Dims& axes);
Shape sizes_of(const Shape& shape, const Dims& axes);
// The shape with size 1 for all other axes, in which a parameter broadcasts against x.
Shape kept(const Shape& shape, const Dims& axes);

// The value in the dtype of statistics.
Value precise(Value x);
// A parameter in that dtype, in a shape that broadcasts against x.
Value spread(Value parameter, const Shape& x, const Dims& axes);
// The gradient of such a parameter: the sum over all other axes, in the given dtype.
Value gather_parameter(Value dy, const Dims& axes, DType dtype);
// True if a statistic has a gradient.
bool flows(Value dy);

// Mean and variance (divided by the count) over all axes but the last, in the dtype of statistics.
// One op, for backends that compute both in one pass.
struct Moments {
  Value mean, variance;
};
Moments moments(Value x);

}  // namespace keratin::ops

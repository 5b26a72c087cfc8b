#pragma once

#include "keratin/ops/norm.h"

// What the normalisations share. A parameter (scale, offset, statistic) belongs to some axes of x
// and has their sizes.
namespace keratin::ops {

// Checks x: floats, with these axes.
void check_norm(const Node& n, const Dims& axes, double epsilon);
// Checks that input i has the sizes of those axes of x, and the dtype.
void check_parameter(const Node& n, size_t i, std::string_view what, const Dims& axes, DType dtype);
void check_inputs(const Node& n, size_t expected);

Dims other_axes(const Shape& shape, const Dims& axes);
Shape sizes_of(const Shape& shape, const Dims& axes);
// The shape with size 1 everywhere else: a parameter's shape when it meets x.
Shape kept(const Shape& shape, const Dims& axes);

// In the arithmetic of statistics.
Value precise(Value x);
// A parameter in that arithmetic, shaped to broadcast against x.
Value spread(Value parameter, const Shape& x, const Dims& axes);
// The other way: sums over all axes of x but those, in the dtype.
Value gather_parameter(Value dy, const Dims& axes, DType dtype);
// Does anything flow back through a statistic?
bool flows(Value dy);

// Mean and variance (divided by the count) of each column: over all axes but the last, in that
// arithmetic. One op, for backends that find both in one pass.
struct Moments {
  Value mean, variance;
};
Moments moments(Value x);
extern const OpDef moments_op;  // moments.cpp

}  // namespace keratin::ops

#pragma once

#include "keratin/ir/node.h"

// The type rules that pointwise ops share.
namespace keratin::ops {

Types infer_numbers(const Node& n);  // any dtype but bool, the same out
Types infer_floats(const Node& n);   // floats, the same out
Types infer_compare(const Node& n);  // anything, bool out
Types infer_bits(const Node& n);     // bool and integers, the same out
Types infer_test(const Node& n);     // floats, bool out

// Sums a gradient over the axes along which its input was broadcast.
Value sum_to(Value dy, const Shape& shape);
// For an op of two inputs: both gradients, summed to the inputs' shapes.
Values unbroadcast(const Node& n, Value da, Value db);

// Nothing flows back: steps and integers.
Values no_gradient(const Node& n, const Values& dy);

}  // namespace keratin::ops

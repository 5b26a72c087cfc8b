#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Replaces nodes by cheaper equivalent ones; works best after `canonicalize`.
//   Numbers   x+0, x·1, x/1, x·-1, --x, x+(-y), x^0, x^1, x^2, x^3, x^-1, x·0 and x-x for integers
//             only (NaN), x/2^k = x·2^-k, 1/√x, max(x, 0) = relu, select by a constant, …
//   Shapes    pointwise ops broadcast by themselves and are computed before a broadcast, transposes
//             become flags of matmul, moving axes of size 1 is a reshape, …
//   Pools     relu's gradient is computed before max_pool's, on the fewer pooled numbers, and the
//             zeros of a max_unpool's result are not summed
// Results keep their bits, except for the sign of a zero and the payload of a NaN; powers (x^2,
// x^3, x^-1) have one rounding per multiplication, a sum of equal numbers is one multiplication,
// and sums over pooled space add in another order.
Module simplify(Module module);

}  // namespace keratin

#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Replaces nodes by cheaper ones of the same meaning; best after `canonicalize`.
//   Numbers   x+0, x·1, x/1, x·-1, --x, x+(-y), x^0, x^1, x^2, x^3, x^-1, x·0 and x-x for integers
//             only (NaN), x/2^k = x·2^-k, 1/√x, max(x, 0) = relu, select by a constant, …
//   Shapes    pointwise ops broadcast by themselves and are computed before a broadcast, transposes
//             go into matmul's flags, what only moves axes of size 1 is a reshape, …
//   Pools     relu's gradient after max_pool's is taken before it, of the few pooled numbers, and
//             what max_unpool gives is not summed with its zeros
// Results keep their bits, but for the sign of a zero and the payload of a NaN; powers (x^2, x^3,
// x^-1) are exact to a rounding per product, a sum of equal numbers is one product, and sums over
// pooled space add in another order.
Module simplify(Module module);

}  // namespace keratin

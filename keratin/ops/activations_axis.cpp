#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/sort.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// 1, 2, 3, … along the axis, to broadcast against x.
Value ranks_along(Value x, int64_t axis) {
  Dims dims(static_cast<size_t>(x.rank()), 1);
  dims[static_cast<size_t>(axis)] = x.shape()[axis];
  return iota(x.block(), x.dtype(), Shape(dims), axis) + 1.0;
}

// The τ with Σ max(x - τ, 0) = 1, of x sorted downwards: element r counts as long as it is above
// the τ that the first r would give.
Value simplex_threshold(Value x, int64_t axis) {
  const Value sorted = sort(x, {.axis = axis, .descending = true});
  const Value total = cumsum(sorted, {.axis = axis}) - 1.0;
  const Value counts = sorted * ranks_along(x, axis) > total;
  const Value kept = where(counts, sorted, scalar_like(x, 0));
  return (sum(kept, {axis}, true) - 1.0) / sum(cast(counts, x.dtype()), {axis}, true);
}

}  // namespace

Value glu(Value x, int64_t axis) {
  const Values halves = split(x, 2, axis);
  return halves[0] * sigmoid(halves[1]);
}

// The elements that stay are found without a gradient; τ is then a mean of them, which has one.
Value sparsemax(Value x, int64_t axis) {
  axis = normalize_axis(axis, x.rank(), "sparsemax");
  require(is_float(x.dtype()) && x.shape()[axis] != unknown && x.shape()[axis] != 0,
          "sparsemax: expected floats and a known size along axis ", axis, ", got ", x.type());
  const Value fixed = stop_gradient(x), peak = max(fixed, {axis}, true);
  const Value stays = fixed - peak > simplex_threshold(fixed - peak, axis);
  const Value zero = scalar_like(x, 0), shifted = x - peak;
  const Value count = sum(cast(stays, x.dtype()), {axis}, true);
  const Value threshold = (sum(where(stays, shifted, zero), {axis}, true) - 1.0) / count;
  return where(stays, shifted - threshold, zero);
}

}  // namespace keratin::ops

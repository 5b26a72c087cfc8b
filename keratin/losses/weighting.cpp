#include "keratin/losses/weighting.h"

#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

std::pair<Value, Value> to_same_rank(Value a, Value b) {
  if (a.rank() == b.rank() + 1 && a.shape()[a.rank() - 1] == 1) {
    if (b.rank() == 1)
      b = ops::expand_dims(b, -1);
    else
      a = ops::squeeze(a, -1);
  } else if (b.rank() == a.rank() + 1) {
    std::tie(b, a) = to_same_rank(b, a);
  }
  return {a, b};
}

Value cast_to(Value x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }
Value cast_like(Value x, Value like) { return cast_to(x, like.dtype()); }

Value divide_no_nan(Value a, Value b) {
  const Value zero = ops::equal(b, ops::scalar_like(b, 0));
  const Value safe = ops::select(zero, ops::scalar_like(b, 1), b);
  const Value quotient = a / safe;
  return ops::select(zero, ops::scalar_like(quotient, 0), quotient);
}

std::optional<Value> masked_weight(std::optional<Value> weight, std::optional<Value> mask,
                                   DType dtype, bool of_mean) {
  if (weight) weight = cast_to(*weight, dtype);
  if (!mask) return weight;
  Value valid = ops::cast(*mask, dtype);
  if (of_mean) {
    const Value total =
        ops::scalar_like(ops::sum(valid), static_cast<double>(mask->shape().count()));
    valid = valid * divide_no_nan(total, ops::sum(valid));
  }
  if (!weight) return valid;
  const auto [v, w] = to_same_rank(valid, *weight);
  return w * v;
}

}  // namespace keratin

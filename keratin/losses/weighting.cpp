#include "keratin/losses/weighting.h"

#include <numeric>

#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

bool is_mean(std::string_view reduction) {
  return reduction == "sum_over_batch_size" || reduction == "mean";
}

Value mean_of_all(Value sum, const Shape& shape) {
  const int64_t count = shape.count();
  return count == 0 ? sum : sum / static_cast<double>(count);
}

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
  const Value safe = ops::where(zero, ops::scalar_like(b, 1), b);
  const Value quotient = a / safe;
  return ops::where(zero, ops::scalar_like(quotient, 0), quotient);
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

Value reduce_as_keras2(Value values, const std::optional<Value>& weight,
                       const std::optional<Value>& mask, std::string_view reduction) {
  const bool mean = is_mean(reduction) || reduction == "mean_with_sample_weight";
  if (mask) {
    Value valid = cast_like(*mask, values);
    std::tie(values, valid) = to_same_rank(values, valid);
    values = values * valid;
    if (mean) values = values / (ops::mean(valid) + keras_epsilon);
  }
  if (weight) {
    const Value w = cast_like(*weight, values);
    if (values.rank() > w.rank()) {
      Dims axes(static_cast<size_t>(values.rank() - w.rank()));
      std::iota(axes.begin(), axes.end(), w.rank());
      values = ops::mean(values, axes);
    }
    values = values * w;
    const Value counts = ops::not_equal(w, ops::scalar_like(w, 0));
    if (mean) values = values / ops::mean(cast_like(counts, values));
  }
  if (reduction == "none" || values.rank() == 0) return values;
  const Value sum = ops::sum(values);
  return mean ? mean_of_all(sum, values.shape()) : sum;
}

}  // namespace keratin

#pragma once

#include <optional>
#include <utility>

#include "keratin/graph/call.h"

// Sample weights and masks, for losses and metrics.
namespace keratin {

inline constexpr double keras_epsilon = 1e-7;

// If ranks differ by one, drops the last axis of size 1 from the value of higher rank. If the other
// value has one axis only, adds an axis to it instead.
std::pair<Value, Value> to_same_rank(Value a, Value b);

// x in the dtype of another value, or in this one.
Value cast_like(Value x, Value like);
Value cast_to(Value x, DType dtype);

// a / b, and 0 where b is 0.
Value divide_no_nan(Value a, Value b);

// The weights times the mask, in `dtype`. If a mean over all samples follows, valid samples weigh
// total / valid, which makes it the mean over valid samples.
std::optional<Value> masked_weight(std::optional<Value> weight, std::optional<Value> mask,
                                   DType dtype, bool of_mean);

// True for a reduction that divides by the number of samples.
bool is_mean(std::string_view reduction);
Value mean_of_all(Value sum, const Shape& shape);

// Weights and reduces as Keras 2.2: a mean is over valid samples, and over those whose weight is
// not 0.
Value reduce_as_keras2(Value values, const std::optional<Value>& weight,
                       const std::optional<Value>& mask, std::string_view reduction);

}  // namespace keratin

#pragma once

#include <optional>
#include <utility>

#include "keratin/base/export.h"
#include "keratin/graph/call.h"

// How samples are weighted, and which are left out: shared by losses and metrics.
namespace keratin {

inline constexpr double keras_epsilon = 1e-7;

// Where ranks differ by one, the axis of size 1 at the end is dropped from the longer one; beside a
// single axis it is added to the shorter one instead.
KERATIN_API std::pair<Value, Value> to_same_rank(Value a, Value b);

// In the dtype of another value.
KERATIN_API Value cast_like(Value x, Value like);
KERATIN_API Value cast_to(Value x, DType dtype);

// max(x, 0)
Value not_negative(Value x);
// a / b, and 0 where b is 0.
KERATIN_API Value divide_no_nan(Value a, Value b);

// The weights with a mask folded in, as float of `dtype`. A mean over all samples is to be one over
// the valid ones: these then weigh total / valid, others 0.
KERATIN_API std::optional<Value> masked_weight(std::optional<Value> weight,
                                               std::optional<Value> mask, DType dtype,
                                               bool of_mean);

// A reduction that divides by the number of samples.
KERATIN_API bool is_mean(std::string_view reduction);
KERATIN_API Value mean_of_all(Value sum, const Shape& shape);

// As Keras 2.2 weights and reduces: a mean is one over valid samples, and over those whose weight
// is not 0.
KERATIN_API Value reduce_as_keras2(Value values, const std::optional<Value>& weight,
                                   const std::optional<Value>& mask, std::string_view reduction);

}  // namespace keratin

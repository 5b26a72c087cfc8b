#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

// Reductions over some axes; no axes means all of them. With keepdims the axes stay, of size 1.
namespace keratin::ops {

struct ReduceAttrs {
  Dims axes;  // sorted, not negative
  bool keepdims = false;
  static constexpr auto fields =
      field_list(field("axes", &ReduceAttrs::axes), field("keepdims", &ReduceAttrs::keepdims));
};
struct ArgAttrs {
  int64_t axis = 0;
  bool keepdims = false;
  static constexpr auto fields =
      field_list(field("axis", &ArgAttrs::axis), field("keepdims", &ArgAttrs::keepdims));
};

Value sum(Value x, const Dims& axes = {}, bool keepdims = false);
Value max(Value x, const Dims& axes = {}, bool keepdims = false);  // NaN wins; not of nothing
Value min(Value x, const Dims& axes = {}, bool keepdims = false);
Value prod(Value x, const Dims& axes = {}, bool keepdims = false);
Value any(Value x, const Dims& axes = {}, bool keepdims = false);  // bool
Value all(Value x, const Dims& axes = {}, bool keepdims = false);
Value mean(Value x, const Dims& axes = {}, bool keepdims = false);
Value variance(Value x, const Dims& axes = {}, bool keepdims = false);  // divides by the count
Value logsumexp(Value x, const Dims& axes = {}, bool keepdims = false);
Value argmax(Value x, int64_t axis, bool keepdims = false);  // i64; the first of equals
Value argmin(Value x, int64_t axis, bool keepdims = false);

// A reduced value with the reduced axes back, of size 1, so that it broadcasts against the input.
Value restore_axes(Value reduced, const Shape& input, const Dims& axes);

}  // namespace keratin::ops

#pragma GCC visibility pop

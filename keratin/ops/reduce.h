#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Reductions over some axes; no axes means all of them. With keepdims the axes stay, of size 1.
namespace keratin::ops {

struct KERATIN_API ReduceAttrs {
  Dims axes;  // sorted, not negative
  bool keepdims = false;
  static constexpr auto fields =
      field_list(field("axes", &ReduceAttrs::axes), field("keepdims", &ReduceAttrs::keepdims));
};
struct KERATIN_API ArgAttrs {
  int64_t axis = 0;
  bool keepdims = false;
  static constexpr auto fields =
      field_list(field("axis", &ArgAttrs::axis), field("keepdims", &ArgAttrs::keepdims));
};

KERATIN_API Value sum(Value x, const Dims& axes = {}, bool keepdims = false);
KERATIN_API Value max(Value x, const Dims& axes = {},
                      bool keepdims = false);  // NaN wins; refuses empty axes
KERATIN_API Value min(Value x, const Dims& axes = {}, bool keepdims = false);
KERATIN_API Value prod(Value x, const Dims& axes = {}, bool keepdims = false);
KERATIN_API Value any(Value x, const Dims& axes = {}, bool keepdims = false);  // bool
KERATIN_API Value all(Value x, const Dims& axes = {}, bool keepdims = false);
KERATIN_API Value mean(Value x, const Dims& axes = {}, bool keepdims = false);
KERATIN_API Value var(Value x, const Dims& axes = {},
                      bool keepdims = false);  // divides by the count
KERATIN_API Value logsumexp(Value x, const Dims& axes = {}, bool keepdims = false);
KERATIN_API Value argmax(Value x, int64_t axis, bool keepdims = false);  // i64; the first of equals
KERATIN_API Value argmin(Value x, int64_t axis, bool keepdims = false);

// A reduced value with its axes restored as size 1, so that it broadcasts against the input.
KERATIN_API Value restore_axes(Value reduced, const Shape& input, const Dims& axes);

}  // namespace keratin::ops

#pragma once

#include <limits>
#include <optional>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Ops that read or replace a box of a tensor.
namespace keratin::ops {

// Per axis, as Python's start:limit:step with step > 0: negative positions count from the end, and
// positions outside are clamped.
struct KERATIN_API SliceAttrs {
  Dims start, limit, step;
  static constexpr auto fields =
      field_list(field("start", &SliceAttrs::start), field("limit", &SliceAttrs::limit),
                 field("step", &SliceAttrs::step));
};
inline constexpr int64_t to_end = std::numeric_limits<int64_t>::max();  // as a limit

// A slice of an input with known sizes: positions start + step · [0, size) on each axis.
struct SliceWindow {
  Dims start, size;
};
KERATIN_API SliceWindow slice_window(const SliceAttrs& attrs, const Shape& input);

struct KERATIN_API ReverseAttrs {
  Dims axes;
  static constexpr auto fields = field_list(field("axes", &ReverseAttrs::axes));
};
struct KERATIN_API DynamicSliceAttrs {
  Dims sizes;  // -1: the whole axis
  static constexpr auto fields = field_list(field("sizes", &DynamicSliceAttrs::sizes));
};

// out[i] = x[start + step · i]; one entry per axis, step 1 where there is none.
KERATIN_API Value slice(Value x, const Dims& start, const Dims& limit, const Dims& step = {});
// The same along one axis, the others whole.
KERATIN_API Value slice_axis(Value x, int64_t axis, int64_t start, int64_t limit, int64_t step = 1);

// Python's start:limit:step; a negative step walks backwards.
struct Range {
  std::optional<int64_t> start = std::nullopt, limit = std::nullopt;
  int64_t step = 1;
};
// x[a:b:c, d:e:f, …]; axes without a range are whole.
KERATIN_API Value strided_slice(Value x, const std::vector<Range>& ranges);

// out[i] = x[n - 1 - i] along the axes; no axes means all of them.
KERATIN_API Value flip(Value x, const Dims& axes = {});

// `parts` equal pieces along an axis, or pieces of these sizes (one may be -1: the rest).
KERATIN_API Values split(Value x, int64_t parts, int64_t axis = 0);
KERATIN_API Values split_sizes(Value x, const Dims& sizes, int64_t axis);

// out[i] = x[start + i] with the start computed by the program: i32 or i64, one per axis, moved
// into [0, n - size] so that the window lies inside. A size of -1 is the whole axis.
KERATIN_API Value dynamic_slice(Value x, Value start, const Dims& sizes);
KERATIN_API Value dynamic_slice(Value x, const Values& start,
                                const Dims& sizes);  // one scalar per axis
// x with a window replaced: out[start + i] = update[i].
KERATIN_API Value dynamic_update_slice(Value x, Value update, Value start);
KERATIN_API Value dynamic_update_slice(Value x, Value update, const Values& start);

}  // namespace keratin::ops

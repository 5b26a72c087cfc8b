#include "keratin/ops/slicing.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// A position as in Python, clamped to [0, size].
int64_t clamp_position(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
}

// The number of elements of start:limit:step; unknown if it depends on an unknown size.
int64_t sliced_size(int64_t start, int64_t limit, int64_t step, int64_t size) {
  if (size == unknown) {
    const bool from_one_side = (start < 0) == (limit < 0) && limit != to_end;
    return from_one_side && limit <= start ? 0 : unknown;
  }
  const int64_t first = clamp_position(start, size), last = clamp_position(limit, size);
  return last <= first ? 0 : 1 + (last - first - 1) / step;
}

Types infer_slice(const Node& n) {
  const auto& [start, limit, step] = n.attr<SliceAttrs>();
  const Shape& shape = n.in().shape();
  const auto rank = static_cast<size_t>(shape.rank());
  require(start.size() == rank && limit.size() == rank && step.size() == rank,
          "slice: expected a start, a limit and a step for each axis of ", shape, ", got ",
          Listed{start}, ", ", Listed{limit}, " and ", Listed{step});
  Dims dims;
  for (size_t i = 0; i < rank; ++i) {
    require(step[i] > 0, "slice: a step must be positive, got ", step[i]);
    dims.push_back(sliced_size(start[i], limit[i], step[i], shape[static_cast<int64_t>(i)]));
  }
  return {{n.in().dtype(), Shape(dims)}};
}

// Zeros, with dy at the positions of the slice.
Values slice_grad(const Node& n, const Values& dy) {
  const auto& attrs = n.attr<SliceAttrs>();
  const Shape& shape = n.in().shape();
  const auto [start, size] = slice_window(attrs, shape);
  PadAttrs pad{.lo = start, .hi = {}, .interior = {}};
  for (size_t i = 0; i < start.size(); ++i) {
    const int64_t covered = size[i] == 0 ? 0 : 1 + (size[i] - 1) * attrs.step[i];
    pad.hi.push_back(shape[static_cast<int64_t>(i)] - start[i] - covered);
    pad.interior.push_back(attrs.step[i] - 1);
  }
  return {ops::pad(dy[0], pad)};
}

void require_start(const Node& n, Value start) {
  const bool integers = start.dtype() == DType::i32 || start.dtype() == DType::i64;
  require(integers && compatible(start.shape(), {n.in().rank()}), n.name(),
          ": the start must be i32 or i64 with one entry per axis of ", n.in().type(), ", got ",
          start.type());
}

// The sizes of a window, -1 replaced by the whole axis.
Dims window_sizes(const Node& n, const Dims& sizes) {
  const Shape& shape = n.in().shape();
  require(static_cast<int64_t>(sizes.size()) == shape.rank(), n.name(),
          ": expected one size per axis of ", shape, ", got ", Listed{sizes});
  Dims result = sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t whole = shape[static_cast<int64_t>(i)];
    if (sizes[i] == -1) result[i] = whole;
    require(sizes[i] >= -1 && (whole == unknown || result[i] <= whole), n.name(), ": a window of ",
            Listed{sizes}, " does not fit into ", shape);
  }
  return result;
}

Types infer_dynamic_update_slice(const Node& n) {
  const Value update = n.in(1);
  require(update.dtype() == n.in().dtype() && update.rank() == n.in().rank(), n.name(),
          ": the update must have the dtype and rank of ", n.in().type(), ", got ", update.type());
  window_sizes(n, update.shape().dims());
  require_start(n, n.in(2));
  return {n.in().type()};
}

Value as_vector(const Values& start, std::string_view who) {
  Values parts;
  for (const Value& value : start) {
    require(value.defined() && value.rank() == 0, who, ": each start must be a scalar");
    parts.push_back(reshape(value, {1}));
  }
  require(!parts.empty(), who, ": needs one start per axis");
  return concatenate(parts, 0);
}

}  // namespace

SliceWindow slice_window(const SliceAttrs& attrs, const Shape& input) {
  SliceWindow window;
  for (size_t i = 0; i < attrs.start.size(); ++i) {
    const int64_t size = input[static_cast<int64_t>(i)];
    const int64_t count = sliced_size(attrs.start[i], attrs.limit[i], attrs.step[i], size);
    window.start.push_back(count == 0 ? 0 : clamp_position(attrs.start[i], size));
    window.size.push_back(count);
  }
  return window;
}

// out[i] = x[start + step · i]
const OpDef slice_op{.name = "slice",
                     .attrs = attrs_type<SliceAttrs>(),
                     .arity = 1,
                     .infer = infer_slice,
                     .grad = slice_grad,
                     .takes_strings = true};

// out[i] = x[n - 1 - i]
const OpDef reverse_op{.name = "reverse",
                       .attrs = attrs_type<ReverseAttrs>(),
                       .arity = 1,
                       .infer = [](const Node& n) -> Types {
                         for (int64_t axis : n.attr<ReverseAttrs>().axes)
                           require(axis >= 0 && axis < n.in().rank(), "reverse: axis ", axis,
                                   " is outside ", n.in().shape());
                         return {n.in().type()};
                       },
                       .grad = [](const Node& n, const Values& dy) -> Values {
                         return {emit(reverse_op, {dy[0]}, n.attrs())};
                       },
                       .takes_strings = true};

// out[i] = x[start + i]
const OpDef dynamic_slice_op{
    .name = "dynamic_slice",
    .attrs = attrs_type<DynamicSliceAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      require_start(n, n.in(1));
      return {{n.in().dtype(), Shape(window_sizes(n, n.attr<DynamicSliceAttrs>().sizes))}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {dynamic_update_slice(zeros_like(n.in()), dy[0], n.in(1)), Value()};
    }};

// x, but out[start + i] = update[i]
const OpDef dynamic_update_slice_op{
    .name = "dynamic_update_slice",
    .arity = 3,
    .infer = infer_dynamic_update_slice,
    .grad = [](const Node& n, const Values& dy) -> Values {
      const Value update = n.in(1), start = n.in(2);
      return {dynamic_update_slice(dy[0], zeros_like(update), start),
              dynamic_slice(dy[0], start, update.shape().dims()), Value()};
    }};

Value slice(Value x, const Dims& start, const Dims& limit, const Dims& step) {
  SliceAttrs attrs{start, limit, step.empty() ? Dims(start.size(), 1) : step};
  bool whole = false;
  // Known sizes are written into the attributes, so that equal slices compare equal.
  if (static_cast<int64_t>(start.size()) == x.rank() && limit.size() == start.size()) {
    whole = attrs.step == Dims(start.size(), 1);
    for (size_t i = 0; i < start.size(); ++i) {
      const int64_t size = x.shape()[static_cast<int64_t>(i)];
      if (size != unknown) {
        attrs.start[i] = clamp_position(start[i], size);
        attrs.limit[i] = clamp_position(limit[i], size);
      }
      whole &= attrs.start[i] == 0 && attrs.limit[i] == (size == unknown ? to_end : size);
    }
  }
  return whole ? x : emit(slice_op, {x}, std::move(attrs));
}

Value slice_axis(Value x, int64_t axis, int64_t start, int64_t limit, int64_t step) {
  const auto at = static_cast<size_t>(normalize_axis(axis, x.rank(), "slice"));
  const auto rank = static_cast<size_t>(x.rank());
  Dims starts(rank, 0), limits(rank, to_end), steps(rank, 1);
  starts[at] = start;
  limits[at] = limit;
  steps[at] = step;
  return slice(x, starts, limits, steps);
}

Value strided_slice(Value x, const std::vector<Range>& ranges) {
  const auto rank = static_cast<size_t>(x.rank());
  require(ranges.size() <= rank, "strided_slice: ", ranges.size(), " ranges for ", x.type());
  Dims start(rank, 0), limit(rank, to_end), step(rank, 1), backwards;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    require(range.step != 0 && range.step != std::numeric_limits<int64_t>::min(),
            "strided_slice: a step must not be ", range.step);
    // Counted from the other end, position i is ~i = -i - 1, whether it counts from 0 or from -1.
    const bool flip = range.step < 0;
    if (flip) backwards.push_back(static_cast<int64_t>(i));
    if (range.start) start[i] = flip ? ~*range.start : *range.start;
    if (range.limit) limit[i] = flip ? ~*range.limit : *range.limit;
    step[i] = flip ? -range.step : range.step;
  }
  return slice(backwards.empty() ? x : flip(x, backwards), start, limit, step);
}

Value flip(Value x, const Dims& axes) {
  return emit(reverse_op, {x}, ReverseAttrs{normalize_axes(axes, x.rank(), "reverse")});
}

namespace {

// Pieces of an axis whose size is not known yet: it goes to the end and becomes [parts, the rest].
Values split_open(Value x, int64_t parts, int64_t axis) {
  Dims order, back(static_cast<size_t>(x.rank()));
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Dims shape(static_cast<size_t>(x.rank() - 1), keep_size);
  shape.insert(shape.end(), {parts, infer_size});
  const Value pieces = reshape(transpose(x, order), shape);
  Values result;
  for (int64_t i = 0; i < parts; ++i)
    result.push_back(transpose(squeeze(slice_axis(pieces, -2, i, i + 1), -2), back));
  return result;
}

}  // namespace

Values split(Value x, int64_t parts, int64_t axis) {
  const int64_t at = normalize_axis(axis, x.rank(), "split");
  const int64_t size = x.shape()[at];
  require(parts > 0 && (size == unknown || size % parts == 0), "split: axis ", axis, " of ",
          x.shape(), " cannot be cut into ", parts, " equal pieces");
  if (size == unknown && x.rank() < static_cast<int64_t>(max_rank)) return split_open(x, parts, at);
  require(size != unknown, "split: the size of axis ", axis, " of ", x.shape(), " must be known");
  return split_sizes(x, Dims(static_cast<size_t>(parts), size / parts), at);
}

Values split_sizes(Value x, const Dims& sizes, int64_t axis) {
  const int64_t at = normalize_axis(axis, x.rank(), "split");
  const int64_t whole = x.shape()[at];
  Dims pieces = sizes;
  const auto open = std::find(pieces.begin(), pieces.end(), -1);
  int64_t total = 0;
  for (int64_t size : sizes) {
    require(size >= -1 && size < (int64_t{1} << 48), "split: bad sizes ", Listed{sizes});
    total += std::max<int64_t>(size, 0);
  }
  if (open != pieces.end()) {
    require(whole != unknown && whole >= total && std::count(open, pieces.end(), -1) == 1,
            "split: cannot infer the open size of ", Listed{sizes}, " along axis ", axis, " of ",
            x.shape());
    *open = whole - total;
    total = whole;
  }
  require(whole == unknown || total == whole, "split: the sizes ", Listed{sizes},
          " do not add up to axis ", axis, " of ", x.shape());
  Values result;
  int64_t start = 0;
  for (int64_t size : pieces) {
    result.push_back(slice_axis(x, at, start, start + size));
    start += size;
  }
  return result;
}

Value dynamic_slice(Value x, Value start, const Dims& sizes) {
  return emit(dynamic_slice_op, {x, start}, DynamicSliceAttrs{sizes});
}
Value dynamic_slice(Value x, const Values& start, const Dims& sizes) {
  return dynamic_slice(x, as_vector(start, "dynamic_slice"), sizes);
}
Value dynamic_update_slice(Value x, Value update, Value start) {
  return emit(dynamic_update_slice_op, {x, update, start});
}
Value dynamic_update_slice(Value x, Value update, const Values& start) {
  return dynamic_update_slice(x, update, as_vector(start, "dynamic_update_slice"));
}

}  // namespace keratin::ops

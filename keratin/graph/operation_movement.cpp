#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/ops/fill.h"

namespace keratin::rules {
namespace {

int64_t known_size(const C& c, Value x, int64_t axis) {
  const int64_t size = x.shape()[axis];
  require(size != unknown, c.who(), ": the size of axis ", axis, " must be known, got shape ",
          keras_shape(x.shape()));
  return size;
}

// Equal parts, or parts that end at these positions.
Results split_along(const C& c, int64_t along) {
  const Value x = c.tensor(0);
  const int64_t axis = from_front(c, along, x.rank());
  const Json& how = c.option("indices_or_sections");
  if (how.is_number()) return ops::split(x, how.as_int(), axis);
  Values parts;
  int64_t start = 0;
  for (const Json& at : how.as_array()) {
    parts.push_back(ops::slice_axis(x, axis, start, at.as_int()));
    start = at.as_int();
  }
  parts.push_back(ops::slice_axis(x, axis, start, ops::to_end));
  return parts;
}

Value one_hot_of(const C& c) {
  return ops::one_hot(as_index(c.tensor(0)), c.option("num_classes").as_int(),
                      c.dtype().value_or(DType::f32), c.integer("axis").value_or(-1));
}

// What is left of a row of elements, in the shape that x has.
Value with_shape_of(Value x, Value row) {
  Dims shape = x.shape().dims();
  const auto open = std::count(shape.begin(), shape.end(), unknown);
  if (open > 1) return x;  // while sizes are open only the type counts
  std::replace(shape.begin(), shape.end(), unknown, ops::infer_size);
  return ops::reshape(row, shape);
}

// x repeated along its axes of size 1 where `like` has more elements, but for one axis.
Value broadcast_but(Value x, Value like, int64_t axis) {
  bool same = true;
  for (int64_t i = 0; i < x.rank(); ++i)
    same = same && (i == axis || x.shape()[i] != 1 || like.shape()[i] == 1);
  if (same) return x;
  const Value ones = ops::sum(ops::fill_like(like, 1, DType::i32), {axis}, /*keepdims=*/true);
  return ops::where(as_bool(ones), x, x);
}

// What comes before and behind each axis: pairs, one pair for all of them, or one number for all.
std::pair<Dims, Dims> pad_widths(const C& c, const Json& widths, int64_t rank) {
  const auto count = static_cast<size_t>(rank);
  if (widths.is_int()) return {Dims(count, widths.as_int()), Dims(count, widths.as_int())};
  const bool pair = widths.size() == 2 && widths[0].is_int();
  require(pair || widths.size() == 1 || widths.size() == count, c.who(),
          ": expected `pad_width` to be a number, a pair or ", rank, " pairs, got ", widths);
  Dims lo, hi;
  for (size_t i = 0; i < count; ++i) {
    const Json& both = pair ? widths : widths[widths.size() == 1 ? 0 : i];
    require(both.is_array() && both.size() == 2, c.who(), ": expected pairs in `pad_width`, got ",
            widths);
    lo.push_back(both[0].as_int());
    hi.push_back(both[1].as_int());
  }
  return {lo, hi};
}

Dims counted(int64_t rank) {
  Dims axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

Results reshape(const C& c) { return ops::reshape(c.tensor(0), c.dims("newshape")); }
Results broadcast_to(const C& c) { return ops::broadcast_to(c.tensor(0), c.dims("shape")); }
Results transpose(const C& c) {
  const Value x = c.tensor(0);
  Dims axes = c.dims("axes");
  if (axes.empty()) {
    axes = counted(x.rank());
    std::reverse(axes.begin(), axes.end());
  }
  return ops::transpose(x, axes);
}
Results swap_axes(const C& c) {
  const Value x = c.tensor(0);
  Dims axes = counted(x.rank());
  std::swap(axes[static_cast<size_t>(from_front(c, c.option("axis1").as_int(), x.rank()))],
            axes[static_cast<size_t>(from_front(c, c.option("axis2").as_int(), x.rank()))]);
  return ops::transpose(x, axes);
}
Results move_axis(const C& c) {
  const Value x = c.tensor(0);
  const Dims source = c.dims("source"), target = c.dims("destination");
  require(source.size() == target.size(), c.who(), ": expected as many sources as destinations");
  Dims axes(static_cast<size_t>(x.rank()), -1), rest = counted(x.rank());
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = from_front(c, source[i], x.rank());
    axes[static_cast<size_t>(from_front(c, target[i], x.rank()))] = from;
    std::erase(rest, from);
  }
  auto next = rest.begin();
  for (int64_t& axis : axes)
    if (axis < 0) axis = *next++;
  return ops::transpose(x, axes);
}
Results expand_dims(const C& c) {
  Value x = c.tensor(0);
  const Dims given = c.dims("axis");
  const int64_t rank = x.rank() + static_cast<int64_t>(given.size());
  Dims axes;
  for (const int64_t axis : given) axes.push_back(from_front(c, axis, rank));
  std::sort(axes.begin(), axes.end());
  for (const int64_t axis : axes) x = ops::expand_dims(x, axis);
  return x;
}
Results squeeze(const C& c) {
  Value x = c.tensor(0);
  Dims axes;
  for (const int64_t axis : c.dims("axis")) axes.push_back(from_front(c, axis, x.rank()));
  if (c.option("axis").is_null())
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (x.shape()[axis] == 1) axes.push_back(axis);
  std::sort(axes.rbegin(), axes.rend());
  for (const int64_t axis : axes) x = ops::squeeze(x, axis);
  return x;
}
Results concatenate(const C& c) {
  return ops::concatenate(c.list(0), c.integer("axis").value_or(0));
}
Results append(const C& c) {
  const Values in = c.operands(0, 2);
  const auto axis = c.integer("axis");
  if (axis) return ops::concatenate(in, *axis);
  return ops::concatenate({flat(in[0]), flat(in[1])}, 0);
}
Results hstack(const C& c) {
  const Values in = c.list(0);
  return ops::concatenate(in, in[0].rank() > 1 ? 1 : 0);
}
Results vstack(const C& c) {
  Values in = c.list(0);
  for (Value& x : in)
    if (x.rank() == 1) x = ops::expand_dims(x, 0);
  return ops::concatenate(in, 0);
}
Results dstack(const C& c) {
  Values in = c.list(0);
  for (Value& x : in) {
    if (x.rank() == 0) x = ops::expand_dims(x, 0);
    if (x.rank() == 1) x = ops::expand_dims(x, 0);
    if (x.rank() == 2) x = ops::expand_dims(x, 2);
  }
  return ops::concatenate(in, 2);
}
Results stack(const C& c) { return ops::stack(c.list(0), c.integer("axis").value_or(0)); }
Results split(const C& c) { return split_along(c, c.integer("axis").value_or(0)); }
Results hsplit(const C& c) { return split_along(c, c.tensor(0).rank() > 1 ? 1 : 0); }
Results vsplit(const C& c) {
  require(c.tensor(0).rank() >= 2, c.who(), ": expected at least 2 axes, got shape ",
          keras_shape(c.tensor(0).shape()));
  return split_along(c, 0);
}
Results dsplit(const C& c) {
  require(c.tensor(0).rank() >= 3, c.who(), ": expected at least 3 axes, got shape ",
          keras_shape(c.tensor(0).shape()));
  return split_along(c, 2);
}
// The first parts are longer by one where the axis does not divide.
Results array_split(const C& c) {
  const Value x = c.tensor(0);
  const int64_t axis = from_front(c, c.integer("axis").value_or(0), x.rank());
  const Json& how = c.option("indices_or_sections");
  if (!how.is_number()) return split_along(c, axis);
  const int64_t size = x.shape()[axis], parts = how.as_int();
  require(parts > 0, c.who(), ": expected at least one part, got ", parts);
  // Only the types count while the size is open: a graph is traced again for the sizes it runs on.
  if (size == unknown) return Values(static_cast<size_t>(parts), x);
  Dims sizes;
  for (int64_t i = 0; i < parts; ++i) sizes.push_back(size / parts + (i < size % parts ? 1 : 0));
  return ops::split_sizes(x, sizes, axis);
}
Results unstack(const C& c) {
  const Value x = c.tensor(0);
  const int64_t axis = from_front(c, c.integer("axis").value_or(0), x.rank());
  const auto count = c.integer("num");
  Values parts = ops::split(x, count ? *count : known_size(c, x, axis), axis);
  for (Value& part : parts) part = ops::squeeze(part, axis);
  return parts;
}
Results flip(const C& c) {
  const Json& axis = c.option("axis");
  if (axis.is_array() && axis.size() == 0) return c.tensor(0);
  return ops::flip(c.tensor(0), c.dims("axis"));
}
Results tile(const C& c) {
  Value x = c.tensor(0);
  Dims repeats = c.dims("repeats");
  while (repeats.size() < static_cast<size_t>(x.rank())) repeats.insert(repeats.begin(), 1);
  while (static_cast<size_t>(x.rank()) < repeats.size()) x = ops::expand_dims(x, 0);
  return ops::tile(x, repeats);
}
// Each element so many times, or a number of times of its own.
Results repeat(const C& c) {
  const auto along = c.integer("axis");
  const Value x = along ? c.tensor(0) : flat(c.tensor(0));
  const int64_t axis = from_front(c, along.value_or(0), x.rank());
  const Dims counts = c.dims("repeats");
  for (const int64_t count : counts)
    require(count >= 0, c.who(), ": expected counts that are not negative, got ",
            c.option("repeats"));
  if (counts.size() == 1) return ops::repeat(x, counts[0], axis);
  require(known_size(c, x, axis) == static_cast<int64_t>(counts.size()), c.who(), ": expected ",
          x.shape()[axis], " counts along axis ", axis, ", got ", counts.size());
  std::vector<int64_t> rows;
  for (size_t i = 0; i < counts.size(); ++i)
    rows.insert(rows.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
  const Shape shape({static_cast<int64_t>(rows.size())});
  return ops::take(x, ops::constant(c.block(), Tensor::of(DType::i64, shape, rows)), axis);
}
// A shift for each axis, or one for all; without axes, all elements in a row are shifted.
Results roll(const C& c) {
  const Value x = c.tensor(0);
  const Dims shifts = Sizes::from_json(c.option("shift")).dims();
  const Json& axis = c.option("axis");
  Dims axes = axis.is_null() ? Dims{0} : Sizes::from_json(axis).dims();
  const size_t count = shifts.size() == 1 ? axes.size() : shifts.size();
  if (axes.size() == 1) axes.resize(count, axes[0]);
  require(axes.size() == count, c.who(), ": expected as many shifts as axes, got ", shifts.size(),
          " and ", axes.size());
  Value y = axis.is_null() ? flat(x) : x;
  for (size_t i = 0; i < count; ++i) y = ops::roll(y, shifts[shifts.size() == 1 ? 0 : i], axes[i]);
  return axis.is_null() ? with_shape_of(x, y) : y;
}
Results take(const C& c) {
  const auto axis = c.integer("axis");
  const Value x = c.tensor(0);
  return ops::take(axis ? x : flat(x), as_index(c.tensor(1)), axis.value_or(0));
}
Results one_hot(const C& c) { return one_hot_of(c); }
Results multi_hot(const C& c) {
  const Value classes = one_hot_of(c);
  const int64_t axis = c.tensor(0).rank() > 1 ? 1 : 0;
  return classes.shape()[axis] == 0 ? ops::sum(classes, {axis}) : ops::max(classes, {axis});
}
Results pad(const C& c) {
  const Value x = c.tensor(0);
  const std::string& mode = c.option("mode").as_string();
  const auto [lo, hi] = pad_widths(c, c.option("pad_width"), x.rank());
  if (mode == "reflect") return ops::pad_reflect(x, lo, hi);
  if (mode == "symmetric") return ops::pad_symmetric(x, lo, hi);
  require(mode == "constant", c.who(), ": mode '", mode, "' is not supported");
  const Tree<Traced>& value = c.argument("constant_values");
  if (value.is_none()) return ops::pad(x, {.lo = lo, .hi = hi, .value = 0});
  const Tensor number = tensor_from_json(constant_json(value), x.dtype());
  return ops::pad(x, {.lo = lo, .hi = hi, .value = number.at(0)});
}
Results rot90(const C& c) {
  const Value x = c.tensor(0);
  const Dims plane = c.dims("axes");
  require(plane.size() == 2, c.who(), ": expected two axes, got ", c.option("axes"));
  const int64_t a = from_front(c, plane[0], x.rank()), b = from_front(c, plane[1], x.rank());
  require(a != b, c.who(), ": expected two different axes, got ", c.option("axes"));
  Dims turned = counted(x.rank());
  std::swap(turned[static_cast<size_t>(a)], turned[static_cast<size_t>(b)]);
  switch (((c.integer("k").value_or(1) % 4) + 4) % 4) {
    case 1:
      return ops::transpose(ops::flip(x, {b}), turned);
    case 2:
      return ops::flip(x, {a, b});
    case 3:
      return ops::flip(ops::transpose(x, turned), {b});
    default:
      return x;
  }
}
// The two axes go to the end and become one, of which every (columns + 1)th element is taken: at
// most `columns` less the offset, and fewer where the rows end before.
Results diagonal(const C& c) {
  Value x = c.tensor(0);
  int64_t row_axis = from_front(c, c.integer("axis1").value_or(0), x.rank());
  int64_t column_axis = from_front(c, c.integer("axis2").value_or(1), x.rank());
  require(row_axis != column_axis, c.who(), ": `axis1` and `axis2` must be different, got ",
          row_axis, " and ", column_axis);
  int64_t offset = c.integer("offset").value_or(0);
  if (x.shape()[column_axis] == unknown) {  // seen from the other side the columns are rows
    std::swap(row_axis, column_axis);
    offset = -offset;
  }
  const int64_t columns = x.shape()[column_axis];
  Dims axes = counted(x.rank());
  std::erase(axes, row_axis);
  std::erase(axes, column_axis);
  axes.insert(axes.end(), {row_axis, column_axis});
  Dims shape(axes.size() - 2, ops::keep_size);
  const int64_t rows = x.shape()[row_axis];
  shape.push_back(rows == unknown || columns == unknown ? ops::infer_size : rows * columns);
  x = ops::reshape(ops::transpose(x, axes), shape);
  if (columns == unknown) return x;  // while both sizes are open only the type counts
  const int64_t start = offset >= 0 ? std::min(offset, columns) : -offset * columns;
  const int64_t count = std::max<int64_t>(columns - std::max<int64_t>(offset, 0), 0);
  const int64_t limit = count == 0 ? start : start + (count - 1) * (columns + 1) + 1;
  return ops::slice_axis(x, -1, start, limit, columns + 1);
}
// Each vector along an axis of its own, repeated along those of the others.
Results meshgrid(const C& c) {
  const size_t count = c.argument_count();
  Values vectors, grids;
  for (size_t i = 0; i < count; ++i) {
    Dims shape(count, 1);
    const bool swapped = c.option("indexing") == Json("xy") && i < 2 && count > 1;
    shape[swapped ? 1 - i : i] = ops::infer_size;
    vectors.push_back(ops::reshape(c.tensor(i), shape));
  }
  for (size_t i = 0; i < count; ++i) {
    Value grid = vectors[i];
    for (size_t j = 0; j < count; ++j)
      if (j != i) grid = ops::where(ops::fill_like(vectors[j], 1, DType::boolean), grid, grid);
    grids.push_back(grid);
  }
  return grids;
}
Results slice(const C& c) {
  return ops::dynamic_slice(c.tensor(0), as_index(c.tensor(1)), c.dims("shape"));
}
Results slice_update(const C& c) {
  const Value x = c.tensor(0);
  return ops::dynamic_update_slice(x, cast_to(c.tensor(2), x.dtype()), as_index(c.tensor(1)));
}
Results take_along_axis(const C& c) {
  const auto axis = c.integer("axis");
  const Value x = c.tensor(0), indices = as_index(c.tensor(1));
  const int64_t rank = axis ? x.rank() : 1;
  require(indices.rank() == rank, c.who(), ": `indices` must have ", rank,
          axis ? " dimensions, as `x` has" : " dimension where there is no axis", ", got shape ",
          keras_shape(indices.shape()));
  if (!axis) return ops::take_along_axis(flat(x), indices, 0);
  const int64_t at = from_front(c, *axis, rank);
  return ops::take_along_axis(broadcast_but(x, indices, at), broadcast_but(indices, x, at), at);
}

}  // namespace keratin::rules

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/positions.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {
namespace {

Dims counted_axes(int64_t rank) {
  Dims axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// The axes that these two change places with.
Dims with_swapped(int64_t rank, int64_t axis1, int64_t axis2) {
  Dims axes = counted_axes(rank);
  std::swap(axes[static_cast<size_t>(axis1)], axes[static_cast<size_t>(axis2)]);
  return axes;
}

// A row of all elements, in the shape that x has.
Value with_shape_of(Value x, Value row) {
  Dims shape = x.shape().dims();
  const auto open = std::count(shape.begin(), shape.end(), unknown);
  if (open > 1) return x;  // only the type counts: graphs are traced again for known sizes
  std::replace(shape.begin(), shape.end(), unknown, infer_size);
  return reshape(row, shape);
}

void check_rank(std::string_view who, Value x, int64_t rank) {
  require(x.rank() >= rank, who, ": expected at least ", rank, " axes, got shape ", x.shape());
}

}  // namespace

Value ravel(Value x) { return reshape(x, {infer_size}); }
Value transpose(Value x) {
  Dims axes = counted_axes(x.rank());
  std::reverse(axes.begin(), axes.end());
  return transpose(x, axes);
}
Value swapaxes(Value x, int64_t axis1, int64_t axis2) {
  return transpose(x, with_swapped(x.rank(), normalize_axis(axis1, x.rank(), "swapaxes"),
                                   normalize_axis(axis2, x.rank(), "swapaxes")));
}
Value moveaxis(Value x, const Dims& source, const Dims& destination) {
  require(source.size() == destination.size(),
          "moveaxis: expected as many sources as destinations, got ", source.size(), " and ",
          destination.size());
  Dims axes(static_cast<size_t>(x.rank()), -1), rest = counted_axes(x.rank());
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = normalize_axis(source[i], x.rank(), "moveaxis");
    axes[static_cast<size_t>(normalize_axis(destination[i], x.rank(), "moveaxis"))] = from;
    std::erase(rest, from);
  }
  auto next = rest.begin();
  for (int64_t& axis : axes)
    if (axis < 0) axis = *next++;
  return transpose(x, axes);
}
Value moveaxis(Value x, int64_t source, int64_t destination) {
  return moveaxis(x, Dims{source}, Dims{destination});
}
Value expand_dims(Value x, const Dims& axis) {
  const int64_t rank = x.rank() + static_cast<int64_t>(axis.size());
  Dims axes;
  for (const int64_t i : axis) axes.push_back(normalize_axis(i, rank, "expand_dims"));
  std::sort(axes.begin(), axes.end());
  for (const int64_t i : axes) x = expand_dims(x, i);
  return x;
}
Value squeeze(Value x, const Dims& axis) {
  Dims axes;
  for (const int64_t i : axis) axes.push_back(normalize_axis(i, x.rank(), "squeeze"));
  std::sort(axes.rbegin(), axes.rend());
  for (const int64_t i : axes) x = squeeze(x, i);
  return x;
}
Value squeeze(Value x) {
  Dims axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (x.shape()[axis] == 1) axes.push_back(axis);
  return squeeze(x, axes);
}
Value fliplr(Value x) { return flip(x, {1}); }
Value flipud(Value x) { return flip(x, {0}); }
Value rot90(Value x, int64_t k, const Dims& axes) {
  require(axes.size() == 2, "rot90: expected two axes, got ", axes.size());
  const int64_t a = normalize_axis(axes[0], x.rank(), "rot90");
  const int64_t b = normalize_axis(axes[1], x.rank(), "rot90");
  require(a != b, "rot90: expected two different axes, got ", Listed{axes});
  const Dims turned = with_swapped(x.rank(), a, b);
  switch (((k % 4) + 4) % 4) {
    case 1:
      return transpose(flip(x, {b}), turned);
    case 2:
      return flip(x, {a, b});
    case 3:
      return flip(transpose(x, turned), {b});
    default:
      return x;
  }
}
Value roll(Value x, const Dims& shift, const std::optional<Dims>& axis) {
  Dims axes = axis.value_or(Dims{0});
  const size_t count = shift.size() == 1 ? axes.size() : shift.size();
  if (axes.size() == 1) axes.resize(count, axes[0]);
  require(axes.size() == count, "roll: expected as many shifts as axes, got ", shift.size(),
          " and ", axes.size());
  Value y = axis ? x : ravel(x);
  for (size_t i = 0; i < count; ++i) y = roll(y, shift[shift.size() == 1 ? 0 : i], axes[i]);
  return axis ? y : with_shape_of(x, y);
}
Value roll(Value x, int64_t shift) { return roll(x, Dims{shift}); }
Value pad(Value x, const std::vector<Dims>& pad_width, std::string_view mode,
          double constant_values) {
  require(static_cast<int64_t>(pad_width.size()) == x.rank(), "pad: expected `pad_width` to be ",
          x.rank(), " pairs, got ", pad_width.size());
  Dims lo, hi;
  for (const Dims& pair : pad_width) {
    require(pair.size() == 2, "pad: expected pairs in `pad_width`, got ", Listed{pair});
    lo.push_back(pair[0]);
    hi.push_back(pair[1]);
  }
  if (mode == "reflect") return pad_reflect(x, lo, hi);
  if (mode == "symmetric") return pad_symmetric(x, lo, hi);
  require(mode == "constant", "pad: mode '", mode, "' is not supported");
  return pad(x, PadAttrs{.lo = lo, .hi = hi, .interior = {}, .value = constant_values});
}
Value repeat(Value x, const Dims& repeats, std::optional<int64_t> axis) {
  if (!axis) return repeat(ravel(x), repeats, 0);
  const int64_t along = normalize_axis(*axis, x.rank(), "repeat");
  for (const int64_t count : repeats)
    require(count >= 0, "repeat: expected counts that are not negative, got ", count);
  if (repeats.size() == 1) return repeat(x, repeats[0], along);
  require(x.shape()[along] != unknown, "repeat: the size of axis ", along,
          " must be known, got shape ", x.shape());
  require(x.shape()[along] == static_cast<int64_t>(repeats.size()), "repeat: expected ",
          x.shape()[along], " counts along axis ", along, ", got ", repeats.size());
  std::vector<int64_t> rows;
  for (size_t i = 0; i < repeats.size(); ++i)
    rows.insert(rows.end(), static_cast<size_t>(repeats[i]), static_cast<int64_t>(i));
  const Shape shape({static_cast<int64_t>(rows.size())});
  return take(x, constant(x.block(), Tensor::of(DType::i64, shape, rows)), along);
}
Value repeat(Value x, int64_t repeats) { return repeat(x, Dims{repeats}); }
Value append(Value x1, Value x2, std::optional<int64_t> axis) {
  if (axis) return concatenate({x1, x2}, *axis);
  return concatenate({ravel(x1), ravel(x2)}, 0);
}
Value hstack(const Values& xs) {
  require(!xs.empty(), "hstack: expected tensors, got none");
  return concatenate(xs, xs[0].rank() > 1 ? 1 : 0);
}
Value vstack(const Values& xs) {
  Values rows = xs;
  for (Value& x : rows)
    if (x.rank() == 1) x = expand_dims(x, 0);
  return concatenate(rows, 0);
}
Value dstack(const Values& xs) {
  Values planes = xs;
  for (Value& x : planes) {
    while (x.rank() < 2) x = expand_dims(x, 0);
    if (x.rank() == 2) x = expand_dims(x, 2);
  }
  return concatenate(planes, 2);
}
Values split(Value x, const Dims& indices, int64_t axis) {
  axis = normalize_axis(axis, x.rank(), "split");
  Values pieces;
  int64_t start = 0;
  for (const int64_t limit : indices) {
    pieces.push_back(slice_axis(x, axis, start, limit));
    start = limit;
  }
  pieces.push_back(slice_axis(x, axis, start, to_end));
  return pieces;
}
Values array_split(Value x, int64_t sections, int64_t axis) {
  axis = normalize_axis(axis, x.rank(), "array_split");
  const int64_t size = x.shape()[axis];
  require(sections > 0, "array_split: expected at least one piece, got ", sections);
  // Only the types count while the size is open: a graph is traced again for the sizes it runs on.
  if (size == unknown) return Values(static_cast<size_t>(sections), x);
  Dims sizes;
  for (int64_t i = 0; i < sections; ++i)
    sizes.push_back(size / sections + (i < size % sections ? 1 : 0));
  return split_sizes(x, sizes, axis);
}
Values array_split(Value x, const Dims& indices, int64_t axis) { return split(x, indices, axis); }
Values hsplit(Value x, int64_t sections) { return split(x, sections, x.rank() > 1 ? 1 : 0); }
Values hsplit(Value x, const Dims& indices) { return split(x, indices, x.rank() > 1 ? 1 : 0); }
Values vsplit(Value x, int64_t sections) {
  check_rank("vsplit", x, 2);
  return split(x, sections, 0);
}
Values vsplit(Value x, const Dims& indices) {
  check_rank("vsplit", x, 2);
  return split(x, indices, 0);
}
Values dsplit(Value x, int64_t sections) {
  check_rank("dsplit", x, 3);
  return split(x, sections, 2);
}
Values dsplit(Value x, const Dims& indices) {
  check_rank("dsplit", x, 3);
  return split(x, indices, 2);
}
Values unstack(Value x, std::optional<int64_t> num, int64_t axis) {
  axis = normalize_axis(axis, x.rank(), "unstack");
  const int64_t count = num.value_or(x.shape()[axis]);
  require(count != unknown, "unstack: the size of axis ", axis, " must be known, got shape ",
          x.shape());
  Values pieces = split(x, count, axis);
  for (Value& piece : pieces) piece = squeeze(piece, axis);
  return pieces;
}
Values meshgrid(const Values& xs, std::string_view indexing) {
  const size_t count = xs.size();
  Values vectors, grids;
  for (size_t i = 0; i < count; ++i) {
    Dims shape(count, 1);
    const bool swapped = indexing == "xy" && i < 2 && count > 1;
    shape[swapped ? 1 - i : i] = infer_size;
    vectors.push_back(reshape(xs[i], shape));
  }
  for (size_t i = 0; i < count; ++i) {
    Value grid = vectors[i];
    for (size_t j = 0; j < count; ++j)
      if (j != i) grid = where(fill_like(vectors[j], 1, DType::boolean), grid, grid);
    grids.push_back(grid);
  }
  return grids;
}

Value take(Value x, Value indices, std::optional<int64_t> axis) {
  return axis ? take(x, indices, *axis) : take(ravel(x), indices, int64_t{0});
}
Value take_along_axis(Value x, Value indices, std::optional<int64_t> axis) {
  return axis ? take_along_axis(x, indices, *axis) : take_along_axis(ravel(x), indices, int64_t{0});
}
Value slice(Value x, Value start_indices, const Dims& shape) {
  return dynamic_slice(x, start_indices, shape);
}
Value slice_update(Value x, Value start_indices, Value updates) {
  return dynamic_update_slice(x, updates, start_indices);
}
Value one_hot(Value x, int64_t num_classes, int64_t axis, DType dtype) {
  return one_hot(x, num_classes, dtype, axis);
}
Value multi_hot(Value x, int64_t num_classes, int64_t axis, DType dtype) {
  const Value classes = one_hot(x, num_classes, dtype, axis);
  const int64_t names = x.rank() > 1 ? 1 : 0;  // the axis of the classes that a sample names
  return classes.shape()[names] == 0 ? sum(classes, {names}) : max(classes, {names});
}

}  // namespace keratin::ops

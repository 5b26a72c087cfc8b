#include "keratin/ops/image_sampling.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin::ops {

namespace {

// An element that a position reads: where it is along one axis, how much it counts (undefined: 1),
// and whether it is inside (undefined: yes).
struct Read {
  Value index, weight, inside;
};

// The nearest whole number, away from 0 where there are two.
Value nearest(Value x) {
  const Value whole = trunc(x);
  return where(abs(x - whole) >= 0.5, whole + sign(x), whole);
}

// |((i + s) mod 2s) - s| with s = size - 1: a triangle wave through 0 … size - 1.
Value mirrored(Value i, int64_t size) {
  const double s = static_cast<double>(size - 1);
  if (size == 1) return i * 0.0;
  return abs(mod(i + s, scalar_like(i, 2 * s)) - s);
}

// The index of a whole position, moved inside.
Read read_at(Value position, int64_t size, const Sampling& how) {
  Read read;
  // Far positions would not fit into integers; NaN ends up anywhere inside.
  constexpr double far = 1 << 28;
  const double last = static_cast<double>(size - 1);
  if (how.border == "constant") read.inside = (position >= 0.0) & (position <= last);
  Value i = cast(clip(position, -far, far), DType::i32);
  if (how.border == "wrap")
    i = mod(i, scalar_like(i, static_cast<double>(size)));
  else if (how.border == "mirror")
    i = mirrored(i, size);
  else if (how.border == "reflect")
    i = floor_divide(mirrored(i * 2.0 + 1.0, 2 * size + 1) - 1.0, scalar_like(i, 2));
  read.index = clip(i, 0, last);
  return read;
}

std::vector<Read> reads_at(Value position, int64_t size, DType dtype, const Sampling& how) {
  if (how.nearest) return {read_at(nearest(position), size, how)};
  const Value low = floor(position);
  const Value above = cast(position - low, dtype);
  Read first = read_at(low, size, how), second = read_at(low + 1.0, size, how);
  first.weight = 1.0 - above;
  second.weight = above;
  return {first, second};
}

Value combined(Value a, Value b, Value (*op)(Value, Value)) {
  return !a.defined() ? b : !b.defined() ? a : op(a, b);
}

// Along one axis more: every read so far with every read of this axis.
std::vector<Read> crossed(const std::vector<Read>& rows, int64_t size,
                          const std::vector<Read>& reads) {
  std::vector<Read> all;
  for (const Read& a : rows)
    for (const Read& b : reads)
      all.push_back({a.index * static_cast<double>(size) + b.index,
                     combined(a.weight, b.weight, multiply),
                     combined(a.inside, b.inside, bitwise_and)});
  return all;
}

// The weighted sum of rows of a table, in `dtype`. `spread` gives weights the rank of a row's
// value.
Value mix(Value table, const std::vector<Read>& reads, DType dtype, double fill_value,
          Value (*spread)(Value)) {
  Value total;
  for (const Read& read : reads) {
    Value row = cast(take(table, read.index, 0), dtype);
    if (read.inside.defined()) row = where(spread(read.inside), row, scalar_like(row, fill_value));
    if (read.weight.defined()) row = row * spread(read.weight);
    total = combined(total, row, add);
  }
  return total;
}

// Mixtures are computed in f32 or f64; what is only read stays what it is.
DType mixing_dtype(DType dtype, const Sampling& how) {
  return how.nearest || dtype == DType::f64 ? dtype : DType::f32;
}

Value with_channels(Value x) { return expand_dims(x, -1); }
Value as_it_is(Value x) { return x; }

}  // namespace

Value sample(Value images, Value y, Value x, const Sampling& how) {
  const Shape& shape = images.shape();
  const int64_t count = shape[0], height = shape[1], width = shape[2], channels = shape[3];
  if (shape.count() == 0) return images;
  require(count * height * width < (int64_t{1} << 31), "image transform: ", images.type(),
          " has more than 2^31 pixels");
  const DType dtype = mixing_dtype(images.dtype(), how);
  // The numbers of images stand before rows and columns.
  const Value image = iota(images.block(), DType::i32, {count, 1, 1}, 0);
  std::vector<Read> reads = {{image, {}, {}}};
  reads = crossed(reads, height, reads_at(y, height, dtype, how));
  reads = crossed(reads, width, reads_at(x, width, dtype, how));
  const Value table = reshape(images, {count * height * width, channels});
  return cast(mix(table, reads, dtype, how.fill_value, with_channels), images.dtype());
}

Value map_coordinates(Value inputs, Value coordinates, int64_t order, const std::string& fill_mode,
                      double fill_value) {
  constexpr std::string_view who = "map_coordinates";
  const int64_t rank = inputs.rank();
  require(coordinates.rank() >= 2, who,
          ": Invalid coordinates rank: expected at least rank 2. Received input with shape: ",
          coordinates.shape());
  require(coordinates.shape()[0] == rank || coordinates.shape()[0] == unknown, who,
          ": First dim of `coordinates` must be the same as the rank of `inputs`. Received inputs "
          "with shape: ",
          inputs.shape(), " and coordinate leading dim of ", coordinates.shape()[0]);
  require(order == 0 || order == 1, who, ": expected an order of 0 or 1, got ", order);
  check_fill_mode(who, fill_mode);
  if (!inputs.shape().known() || !coordinates.shape().known())
    return cast(squeeze(slice_axis(coordinates, 0, 0, 1), 0), inputs.dtype());
  require(inputs.shape().count() > 0 && inputs.shape().count() < (int64_t{1} << 31), who,
          ": expected between 1 and 2^31 elements, got ", inputs.type());
  if (!is_float(coordinates.dtype())) coordinates = cast(coordinates, DType::f32);
  const Sampling how = {.nearest = order == 0, .border = fill_mode, .fill_value = fill_value};
  const DType dtype = mixing_dtype(inputs.dtype(), how);
  std::vector<Read> reads;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const Value at = squeeze(slice_axis(coordinates, 0, axis, axis + 1), 0);
    const auto here = reads_at(at, inputs.shape()[axis], dtype, how);
    reads = axis == 0 ? here : crossed(reads, inputs.shape()[axis], here);
  }
  const Value flat = reshape(inputs, {inputs.shape().count()});
  const Value mixed = mix(flat, reads, dtype, fill_value, as_it_is);
  return cast(is_float(inputs.dtype()) ? mixed : round(mixed), inputs.dtype());
}

}  // namespace keratin::ops

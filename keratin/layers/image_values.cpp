#include "keratin/layers/image_values.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/positions.h"
#include "keratin/ops/random.h"
#include "keratin/ops/reduce.h"

namespace keratin::image {
namespace {

// The probability that none of this many candidates is accepted is below 1e-30.
constexpr int64_t gamma_candidates = 24;

// The positions along an axis of the images, in a shape that broadcasts against them.
Value grid(Value images, int64_t axis, DType dtype) {
  Dims dims(4, 1);
  dims[static_cast<size_t>(axis)] = ops::infer_size;
  return ops::reshape(ops::cast(ops::positions(images, axis), dtype), dims);
}

struct Span {
  Value first, end;
};
Span random_span(const Draws& draws, Value images, Value share, int64_t axis, DType dtype) {
  const double whole = length(images, axis);
  const Value size = ops::cast(share * whole, dtype);
  const Value first = draws.uniform(per_image(images), 0, 1, dtype) * (whole - size);
  return {first, first + size};
}

}  // namespace

Value to_range(Value x, const Numbers& from, const Numbers& to, DType dtype) {
  if (low(from) == low(to) && high(from) == high(to)) return x;
  const Value share = (ops::cast(x, dtype) - low(from)) / (high(from) - low(from));
  return share * (high(to) - low(to)) + low(to);
}

Value clip(Value x, const Numbers& range) { return ops::clip(x, low(range), high(range)); }

const Numbers& levels() {
  static const Numbers all = {0, 255};
  return all;
}

Value Draws::key(DType dtype, const Shape& shape) const {
  return call_->random_key(*seed_, shape.known() ? ops::random_words(dtype, shape) : 0);
}

Value Draws::uniform(const Shape& shape, double low, double high, DType dtype) const {
  if (low < high) return ops::random_uniform(key(dtype, shape), dtype, shape, low, high);
  return ops::random_uniform(key(dtype, shape), dtype, shape) * (high - low) + low;
}

Value Draws::whole(const Shape& shape, int64_t low, int64_t high) const {
  return ops::randint(key(DType::i32, shape), DType::i32, shape, low, high);
}

Value Draws::normal(const Shape& shape, DType dtype) const {
  return ops::random_normal(key(dtype, shape), dtype, shape);
}

Value Draws::happens(Value images, const Numbers& probability) const {
  const Value limit = uniform(per_image(images), probability);
  return uniform(per_image(images), 0, 1) < limit;
}

// Marsaglia and Tsang: with d = a - 1/3 and v = (1 + x / √(9d))³, x normal, d·v is from gamma(a) if
// log u < x²/2 + d - d·v + d·log v. For a = alpha + 1 this is never rare, and gamma(alpha) is
// gamma(alpha + 1) · u^(1 / alpha).
Value Draws::log_gamma(int64_t count, Value alpha) const {
  const Shape candidates{gamma_candidates, count};
  const Value d = alpha + 2.0 / 3;
  const Value x = normal(candidates, DType::f32);
  const Value root = 1.0 + x / ops::sqrt(d * 9.0);
  const Value positive = root > 0;
  const Value log_v = ops::log(ops::where(positive, root, ops::scalar_like(root, 1))) * 3.0;
  const Value bound = x * x * 0.5 + d - d * ops::exp(log_v) + d * log_v;
  const Value log_u = ops::log(1.0 - uniform(candidates, 0, 1));
  const Value accepted = positive & (log_u < bound);
  const Value first = ops::argmax(ops::cast(accepted, DType::i32), 0, true);
  const Value chosen = ops::squeeze(ops::take_along_axis(log_v, first, 0), 0);
  return ops::log(d) + chosen + ops::log(1.0 - uniform({count}, 0, 1)) / alpha;
}

// a / (a + b) of two numbers of gamma(alpha)
Value Draws::beta(int64_t count, Value alpha) const {
  const Value a = log_gamma(count, alpha), b = log_gamma(count, alpha);
  return ops::sigmoid(a - b);
}

Value Draws::order(Value images) const {
  const int64_t count = images.shape()[0];
  if (count == unknown) return ops::positions(images, 0);
  return ops::permutation(key(DType::i32, {count}), count);
}

bool is_batch(const Call& c) {
  const Tree<Traced>& data = c.argument(0);
  return (data.is_dict() ? data["images"].leaf().value : c.input()).rank() == 4;
}

Value aligned(Value x, int64_t rank) {
  Dims dims(static_cast<size_t>(rank), 1);
  dims[0] = ops::infer_size;
  return ops::reshape(x, dims);
}

Value drawn_value(const Results& drawn, std::string_view name) { return drawn[name].leaf(); }

Axes axes_of(const std::string& data_format) {
  return data_format == "channels_first" ? Axes{2, 3, 1} : Axes{1, 2, 3};
}

double length(Value images, int64_t axis) {
  const int64_t size = images.shape()[axis];
  return size == unknown ? 1 : static_cast<double>(size);
}

Boxes random_boxes(const Draws& draws, Value images, Value width_share, Value height_share,
                   const Axes& axes, DType dtype) {
  const Span x = random_span(draws, images, width_share, axes.width, dtype);
  const Span y = random_span(draws, images, height_share, axes.height, dtype);
  return {x.first, x.end, y.first, y.end};
}

Value inside(Value images, const Boxes& boxes, const Axes& axes, DType dtype) {
  const Value x = grid(images, axes.width, dtype), y = grid(images, axes.height, dtype);
  const Value mask = (x >= aligned(boxes.left)) & (x < aligned(boxes.right)) &
                     (y >= aligned(boxes.top)) & (y < aligned(boxes.bottom));
  const int64_t channels = images.shape()[axes.channels];
  return channels == unknown ? mask : ops::repeat(mask, channels, axes.channels);
}

}  // namespace keratin::image

#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

using image::high;
using image::low;

Value whole(Block& block, const Shape& shape, const std::vector<int64_t>& values) {
  return ops::constant(block, Tensor::of(DType::i32, shape, values));
}
Value whole(Block& block, int64_t value) { return whole(block, {}, {value}); }

// A vector along one of four axes.
Value along(Value x, int64_t axis) {
  Dims dims(4, 1);
  dims[static_cast<size_t>(axis)] = x.shape()[0];
  return ops::reshape(x, dims);
}

// Where the bins of each channel start.
Value starts(Block& block, int64_t channels, int64_t bins, int64_t axis) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < channels; ++i) all.push_back(i * bins);
  return along(whole(block, {channels}, all), axis);
}

Value clip_whole(Value x, int64_t lowest, int64_t highest) {
  return ops::minimum(ops::maximum(x, whole(x.block(), lowest)), whole(x.block(), highest));
}

// How often each channel has each of the whole numbers below `count`: f64[channels, count]. `at`
// has the numbers of each channel one after the other.
Value histograms(Value at, int64_t channels, int64_t count) {
  const Value row = ops::reshape(at, {ops::infer_size});
  const Value empty = ops::full(at.block(), DType::f64, {channels * count}, 0);
  const Value counts = ops::scatter_add(empty, row, ops::fill_like(row, 1, DType::f64), 0);
  return ops::reshape(counts, {channels, count});
}

// For each channel the level that a value of each bin gets: f64[channels, bins].
Value equalized_levels(Value counts) {
  const Value below = ops::cumsum(counts, {.axis = 1});
  const int64_t bins = counts.shape()[1];
  const Value all = ops::slice_axis(below, 1, bins - 1, bins);
  const Value first = ops::min(ops::where(below > 0, below, all), {1}, true);
  const Value rest = all - first;
  const Value share =
      (below - first) * 255.0 / ops::where(rest > 0, rest, ops::scalar_like(rest, 1));
  return ops::clip(ops::round(share), 0, 255);
}

}  // namespace

EqualizationLayer::EqualizationLayer(EqualizationConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.value_range = detail::image_value_range(cfg.value_range, true);
  require(cfg.bins > 0 && cfg.bins <= 1 << 20, "Equalization '", name(),
          "': bins must be between 1 and 2^20, got ", cfg.bins);
}

// The order of the operations is Keras's: a pixel of 3 is in bin ⌊3 · 255 / 255⌋ of the histogram,
// and looked up in bin ⌊3 / 255 · 255⌋, which may be another one.
Value EqualizationLayer::transform_images(const Call& c, Value images, const Results&) const {
  if (!c.training()) return images;
  const DType dtype = compute_dtype();
  images = ops::cast(images, dtype);
  const int64_t axis = image::axes_of(cfg.data_format).channels, channels = images.shape()[axis];
  require(channels != unknown, "Equalization '", name(),
          "': the channels of the images must be known, got ", keras_shape(images.shape()));
  const double range = high(cfg.value_range) - low(cfg.value_range);
  const double scale = 255 / range, back = range / 255, last = static_cast<double>(cfg.bins - 1);
  const Value pixels = images * scale + (0 - low(cfg.value_range) * scale);
  const auto in_channel = [&](Value bins) {
    return clip_whole(ops::cast(bins, DType::i32), 0, cfg.bins - 1) +
           starts(c.block(), channels, cfg.bins, axis);
  };
  const Value counts =
      histograms(in_channel(ops::cast(pixels, DType::f32) * last / 255.0), channels, cfg.bins);
  const Value levels = ops::cast(equalized_levels(counts) * back + low(cfg.value_range), dtype);
  const Value equalized =
      ops::take(ops::reshape(levels, {channels * cfg.bins}), in_channel(pixels / 255.0 * last), 0);
  const Value used = ops::sum(ops::cast(counts > 0, DType::i32), {1});
  const Value single = ops::less_equal(used, whole(c.block(), 1));
  return ops::where(along(single, axis), pixels * back + low(cfg.value_range), equalized);
}

AutoContrastLayer::AutoContrastLayer(AutoContrastConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.value_range = detail::image_value_range(cfg.value_range, true);
}

Value AutoContrastLayer::transform_images(const Call&, Value images, const Results&) const {
  const DType dtype = compute_dtype();
  Value x = image::to_range(images, cfg.value_range, image::levels(), dtype);
  x = ops::cast(x, dtype);
  const Value lowest = ops::min(x, {1, 2}, true), highest = ops::max(x, {1, 2}, true);
  const Value scale = 255.0 / (highest - lowest);
  x = ops::clip((x - lowest) * scale, 0, 255);
  x = image::to_range(x, image::levels(), cfg.value_range, dtype);
  // A channel of one value is left as it is.
  return ops::where(ops::isnan(x), ops::cast(images, dtype), x);
}

}  // namespace keratin

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/layers/image_boxes.h"
#include "keratin/layers/image_geometry.h"
#include "keratin/layers/image_ranges.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/image_sampling.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"

// Layers that distort some images of a batch.
namespace keratin {
namespace {

// How a layer changes images of floats, and masks, which keep their dtype.
using Distort = std::function<Value(Value, const std::string& interpolation)>;

ImageChange distorted(DType dtype, const std::string& interpolation, const Distort& distort) {
  return {.images = [=](Value x) { return distort(ops::cast(x, dtype), interpolation); },
          .masks = [=](Value x) { return distort(x, "nearest"); }};
}

// The smallest box around the corners of a box, which the inverse of a transform moves.
images::Boxes moved_boxes(const images::Boxes& b, const ops::Projection& by) {
  const auto flat = [](Value x) { return ops::reshape(x, {ops::keep_size, 1}); };
  const Value a0 = flat(by.a0), a1 = flat(by.a1), a2 = flat(by.a2), b0 = flat(by.b0),
              b1 = flat(by.b1), b2 = flat(by.b2), c0 = flat(by.c0), c1 = flat(by.c1);
  images::Boxes around = b;
  bool first = true;
  for (const Value& x : {b.left, b.right})
    for (const Value& y : {b.top, b.bottom}) {
      const Value k = (b0 * c1 - b1 * c0) * x + (a1 * c0 - a0 * c1) * y + (a0 * b1 - a1 * b0);
      const Value u = ((b1 - b2 * c1) * x + (a2 * c1 - a1) * y + (a1 * b2 - a2 * b1)) / k;
      const Value v = ((b2 * c0 - b0) * x + (a0 - a2 * c0) * y + (a2 * b0 - a0 * b2)) / k;
      around.left = first ? u : ops::minimum(around.left, u);
      around.right = first ? u : ops::maximum(around.right, u);
      around.top = first ? v : ops::minimum(around.top, v);
      around.bottom = first ? v : ops::maximum(around.bottom, v);
      first = false;
    }
  return around;
}

}  // namespace

RandomPerspectiveLayer::RandomPerspectiveLayer(RandomPerspectiveConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  cfg.factor = images::range_of(cfg.factor, "factor", 0, 1).numbers();
  require(cfg.scale >= 0 && cfg.scale <= 1,
          "The `scale` argument should be a number in the range [0,1]. Received: scale=",
          Json(cfg.scale).dump());
  images::check_interpolation(cfg.interpolation);
}

ImageChange RandomPerspectiveLayer::change(const Call& c, const Shape& batch) const {
  if (!c.training()) return {.images = [this](Value x) { return computed(x); }};
  const Shape each = {batch[0], 1, 1, 1};
  const Value probability = uniform(c, each, cfg.factor.values()[0], cfg.factor.values()[1]);
  const Value applies = uniform(c, each) < probability;
  const Value moves = uniform(c, {batch[0], 4, 2}, -0.5 * cfg.scale, 0.5 * cfg.scale);
  const double right = static_cast<double>(batch[2] - 1), low = static_cast<double>(batch[1] - 1);
  const std::vector<double> corners = {0, 0, right, 0, 0, low, right, low};
  const Value start = ops::constant(c.block(), Tensor::of<double>(DType::f32, {1, 4, 2}, corners));
  const Value end = start + start * moves;
  const ops::Projection by = ops::projection_of(ops::compute_homography_matrix(start, end));
  const auto distort = [=, this](Value x, const std::string& interpolation) {
    if (!x.shape().known()) return ops::fill_like(x, 0, x.dtype());
    const Value moved = ops::project(
        x, by,
        {.interpolation = interpolation, .fill_mode = "constant", .fill_value = cfg.fill_value});
    return ops::where(applies, moved, x);
  };
  ImageChange all = distorted(compute_dtype(), cfg.interpolation, distort);
  // Keras returns boxes of any format as xyxy.
  const images::Extent size = {batch[1], batch[2]};
  all.boxes = [=, format = box_format()](Value given, Value labels) -> Values {
    images::Boxes b = images::read_boxes(format, size, given, labels);
    const images::Boxes moved = moved_boxes(b, by);
    const Value condition = ops::reshape(applies, {ops::keep_size, 1});
    const auto chosen = [&](Value a, Value other) { return ops::where(condition, a, other); };
    b = {chosen(moved.left, b.left), chosen(moved.top, b.top), chosen(moved.right, b.right),
         chosen(moved.bottom, b.bottom), labels};
    b = images::clipped(b, static_cast<double>(size.width), static_cast<double>(size.height));
    return {images::write_boxes("xyxy", size, b), b.labels};
  };
  return all;
}

RandomElasticTransformLayer::RandomElasticTransformLayer(RandomElasticTransformConfig config,
                                                         LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  cfg.factor = images::range_of(cfg.factor, "factor", 0, 1).numbers();
  cfg.scale = images::range_of(cfg.scale, "scale", 0, 1).numbers();
  images::check_interpolation(cfg.interpolation);
  if (cfg.fill_mode != "mirror") images::check_fill(cfg.fill_mode, cfg.interpolation);
  require(cfg.value_range.values().size() == 2,
          "RandomElasticTransform: `value_range` must be two numbers, got ",
          cfg.value_range.to_json());
}

ImageChange RandomElasticTransformLayer::change(const Call& c, const Shape& batch) const {
  const double strongest = cfg.scale.values()[1];
  const auto no_boxes = [this](Value, Value) -> Values {
    fail(class_name(), " '", name(), "': Keras has no rule for bounding boxes in this layer");
  };
  if (!c.training() || strongest == 0 || cfg.factor.values()[1] == 0)
    return {.images = [this](Value x) { return computed(x); }, .boxes = no_boxes};
  const Shape each = {batch[0], 1, 1, 1};
  const Value probability = uniform(c, each, cfg.factor.values()[0], cfg.factor.values()[1]);
  const Value applies = uniform(c, each) < probability;
  const Value strength = uniform(c, {}, cfg.scale.values()[0], strongest);
  const Shape pixels = {batch[0], batch[1], batch[2]};
  const int64_t words = pixels.known() ? ops::random_words(DType::f32, pixels) : 0;
  const Value key = c.random_key(*drawn_from_, words);
  const auto distort = [=, this](Value x, const std::string& interpolation) {
    if (!x.shape().known()) return ops::fill_like(x, 0, compute_dtype());
    const double longer = static_cast<double>(std::max(batch[1], batch[2]));
    const double shorter = static_cast<double>(std::min(batch[1], batch[2]));
    const Value alpha = strength * (0.1 * longer);
    // Noise of a sigma of 0 is 0, but a kernel of that width is not defined.
    const Value sigma = ops::maximum(strength * (0.05 * shorter), ops::scalar_like(strength, 1e-6));
    const Value moved = ops::move_elastically(
        x, ops::random_normal(key, DType::f32, pixels), alpha, sigma, 0.05 * shorter * strongest,
        {.interpolation = interpolation, .fill_mode = cfg.fill_mode, .fill_value = cfg.fill_value});
    const Value result = ops::where(applies, moved, x);
    const auto& range = cfg.value_range.values();
    return computed(ops::clip(result, range[0], range[1]));
  };
  ImageChange all = distorted(compute_dtype(), cfg.interpolation, distort);
  all.boxes = no_boxes;
  return all;
}

}  // namespace keratin

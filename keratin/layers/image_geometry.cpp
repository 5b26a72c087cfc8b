#include "keratin/layers/image_geometry.h"

#include <algorithm>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/layers/image_boxes.h"
#include "keratin/layers/image_ranges.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/image_sampling.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

// Layers that move pixels by an affine transform, or flip images.
namespace keratin {
namespace {

// Numbers of the images of a batch, [batch], as [batch, 1, 1].
Value per_image(Value x) { return ops::reshape(x, {ops::keep_size, 1, 1}); }

// A change by a projection: images as the layer interpolates, masks by the nearest pixel.
template <class Config>
ImageChange projected(const Config& config, DType dtype, const ops::Projection& by,
                      const std::function<Values(Value, Value)>& boxes) {
  const auto with = [config, by](const std::string& interpolation) {
    const ops::TransformOptions options = {.interpolation = interpolation,
                                           .fill_mode = config.fill_mode,
                                           .fill_value = config.fill_value};
    return [by, options](Value x) {
      return x.shape().known() ? ops::project(x, by, options) : ops::fill_like(x, 0, x.dtype());
    };
  };
  const auto images = with(config.interpolation);
  return {.images = [=](Value x) { return images(ops::cast(x, dtype)); },
          .masks = with("nearest"),
          .boxes = boxes};
}

using images::Boxes;

// Numbers of the images of a batch, [batch, 1, 1], for their boxes, [batch, boxes].
Value per_box(Value x) { return ops::reshape(x, {ops::keep_size, 1}); }

// A change of boxes for images that keep their size.
template <class Change>
std::function<Values(Value, Value)> boxes_of(const std::string& format, const Shape& batch,
                                             const Change& change) {
  const images::Extent size = {batch[1], batch[2]};
  const auto height = static_cast<double>(batch[1]), width = static_cast<double>(batch[2]);
  return images::boxes_by(format, size, size,
                          [=](const Boxes& b) { return change(b, height, width); });
}

double middle(int64_t size) { return static_cast<double>(size - 1) / 2; }

}  // namespace

RandomFlipLayer::RandomFlipLayer(RandomFlipConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
}

ImageChange RandomFlipLayer::change(const Call& c, const Shape& batch) const {
  const auto as_it_is = [this](Value x) { return computed(x); };
  if (!c.training()) return {.images = as_it_is, .masks = as_it_is};
  const Value flips = uniform(c, {batch[0], 1, 1, 1}) <= 0.5;
  // Keras flips nothing in a mode that it does not know.
  const bool both = cfg.mode == "horizontal_and_vertical";
  Dims axes;
  if (both || cfg.mode == "vertical") axes.push_back(1);
  if (both || cfg.mode == "horizontal") axes.push_back(2);
  const auto flipped = [this, flips, axes](Value x) {
    x = computed(x);
    return axes.empty() ? x : ops::where(flips, ops::flip(x, axes), x);
  };
  // In parts of the image's size, which Keras then clips to the size itself.
  const auto boxes = [flips, axes](const Boxes& b, double height, double width) {
    const Boxes part = images::scaled(b, 1 / width, 1 / height);
    const Value turned = ops::reshape(flips, {ops::keep_size, 1});
    const auto mirrored = [&](Value side, Value opposite) {
      return ops::where(turned, 1.0 - opposite, side);
    };
    Boxes mine = part;
    for (const int64_t axis : axes) {
      Value& first = axis == 1 ? mine.top : mine.left;
      Value& last = axis == 1 ? mine.bottom : mine.right;
      const Value before = first;
      first = mirrored(first, last), last = mirrored(last, before);
    }
    return images::scaled(images::clipped(mine, width, height), width, height);
  };
  return {.images = flipped, .masks = flipped, .boxes = boxes_of(box_format(), batch, boxes)};
}

RandomTranslationLayer::RandomTranslationLayer(RandomTranslationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  images::check_fill(cfg.fill_mode, cfg.interpolation);
  images::translation_range(cfg.height_factor, "height_factor");
  images::translation_range(cfg.width_factor, "width_factor");
}

ImageChange RandomTranslationLayer::change(const Call& c, const Shape& batch) const {
  if (!c.training()) return {.images = [this](Value x) { return computed(x); }};
  const auto moved = [&](const Numbers& factor, std::string_view name, int64_t size) {
    const auto [low, high] = images::translation_range(factor, name);
    return per_image(uniform(c, {batch[0]}, low, high)) * static_cast<double>(size);
  };
  const Value down = moved(cfg.height_factor, "height_factor", batch[1]);
  const Value right = moved(cfg.width_factor, "width_factor", batch[2]);
  const Value zero = ops::scalar_like(down, 0), one = ops::scalar_like(down, 1);
  const auto boxes = [right, down](Boxes b, double height, double width) {
    const Value x = per_box(right), y = per_box(down);
    b = {b.left + x, b.top + y, b.right + x, b.bottom + y, b.labels};
    return images::clipped(b, width, height);
  };
  return projected(cfg, compute_dtype(), {one, zero, -right, zero, one, -down},
                   boxes_of(box_format(), batch, boxes));
}

RandomRotationLayer::RandomRotationLayer(RandomRotationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  images::check_fill(cfg.fill_mode, cfg.interpolation);
  cfg.factor = images::range_of(cfg.factor, "factor", -1, 1).numbers();
}

ImageChange RandomRotationLayer::change(const Call& c, const Shape& batch) const {
  if (!c.training()) return {.images = [this](Value x) { return computed(x); }};
  const auto& ends = cfg.factor.values();
  const Value angle =
      per_image(uniform(c, {batch[0]}, ends[0] * 360, ends[1] * 360)) * (std::numbers::pi / 180);
  const double x = middle(batch[2]), y = middle(batch[1]);
  const Value cos = ops::cos(angle), sin = ops::sin(angle);
  // The smallest box around the four turned corners. Keras reads any format as xyxy.
  const images::Extent size = {batch[1], batch[2]};
  const auto boxes = [=, format = box_format()](Value given, Value labels) -> Values {
    const Boxes b = images::read_boxes("xyxy", size, given, labels);
    const Value c = per_box(cos), s = per_box(sin);
    const auto at_x = [&](Value u, Value v) { return c * (u - x) + s * (v - y) + x; };
    const auto at_y = [&](Value u, Value v) { return c * (v - y) - s * (u - x) + y; };
    const auto of_corners = [&](const auto& at, Value (*choose)(Value, Value)) {
      return choose(choose(at(b.left, b.top), at(b.right, b.top)),
                    choose(at(b.right, b.bottom), at(b.left, b.bottom)));
    };
    const Boxes turned = {of_corners(at_x, ops::minimum), of_corners(at_y, ops::minimum),
                          of_corners(at_x, ops::maximum), of_corners(at_y, ops::maximum), labels};
    const Boxes inside =
        images::clipped(turned, static_cast<double>(size.width), static_cast<double>(size.height));
    return {images::write_boxes(format, size, inside), inside.labels};
  };
  return projected(cfg, compute_dtype(),
                   {cos, -sin, x - cos * x + sin * y, sin, cos, y - sin * x - cos * y}, boxes);
}

RandomZoomLayer::RandomZoomLayer(RandomZoomConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  images::check_fill(cfg.fill_mode, cfg.interpolation);
  images::zoom_range(cfg.height_factor, "height_factor");
  if (cfg.width_factor) images::zoom_range(*cfg.width_factor, "width_factor");
}

ImageChange RandomZoomLayer::change(const Call& c, const Shape& batch) const {
  if (!c.training()) return {.images = [this](Value x) { return computed(x); }};
  const auto zoom = [&](const Numbers& factor, std::string_view name) {
    const auto [low, high] = images::zoom_range(factor, name);
    return per_image(uniform(c, {batch[0]}, 1 + low, 1 + high));
  };
  const Value y = zoom(cfg.height_factor, "height_factor");
  const Value x = cfg.width_factor ? zoom(*cfg.width_factor, "width_factor") : y;
  const Value zero = ops::scalar_like(y, 0);
  const Value left = (1.0 - x) * middle(batch[2]), top = (1.0 - y) * middle(batch[1]);
  const auto boxes = [=](const Boxes& b, double height, double width) {
    // What the image shows is [low, low + size · zoom) of the input.
    const auto shown = [](Value side, Value low, Value zoom, double size) {
      const Value part = (side - per_box(low)) / (per_box(zoom) * size);
      return ops::clip(part, 0, 1);
    };
    Boxes part = {shown(b.left, left, x, width), shown(b.top, top, y, height),
                  shown(b.right, left, x, width), shown(b.bottom, top, y, height), b.labels};
    return images::scaled(images::clipped(part, 1, 1), width, height);
  };
  return projected(cfg, compute_dtype(), {x, zero, left, zero, y, top},
                   boxes_of(box_format(), batch, boxes));
}

RandomShearLayer::RandomShearLayer(RandomShearConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  images::check_fill(cfg.fill_mode, cfg.interpolation);
  images::shear_range(cfg.x_factor, "x_factor");
  images::shear_range(cfg.y_factor, "y_factor");
}

ImageChange RandomShearLayer::change(const Call& c, const Shape& batch) const {
  if (!c.training()) return {.images = [this](Value x) { return computed(x); }};
  const Value turned = per_image(uniform(c, {batch[0]})) > 0.5;
  const auto shear = [&](const Numbers& factor, std::string_view name) {
    const auto [low, high] = images::shear_range(factor, name);
    const Value amount = per_image(uniform(c, {batch[0]}, low, high));
    return ops::where(turned, -amount, amount);
  };
  const Value down = shear(cfg.y_factor, "y_factor"), right = shear(cfg.x_factor, "x_factor");
  const Value zero = ops::scalar_like(down, 0), one = ops::scalar_like(down, 1);
  const auto boxes = [right, down](const Boxes& b, double height, double width) {
    const Value x = per_box(right), y = per_box(down);
    Boxes p = images::scaled(b, 1 / width, 1 / height);
    const Value left = ops::where(x < 0.0, p.left - x * p.top, p.left - x * p.bottom);
    p.right = ops::where(x < 0.0, p.right - x * p.bottom, p.right - x * p.top), p.left = left;
    const Value top = ops::where(y > 0.0, p.top - y * p.right, p.top - y * p.left);
    p.bottom = ops::where(y > 0.0, p.bottom - y * p.left, p.bottom - y * p.right), p.top = top;
    return images::scaled(images::clipped(p, 1, 1), width, height);
  };
  return projected(cfg, compute_dtype(), {one, right, zero, down, one, zero},
                   boxes_of(box_format(), batch, boxes));
}

}  // namespace keratin

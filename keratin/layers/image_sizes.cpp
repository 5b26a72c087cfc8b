#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/layers/image_boxes.h"
#include "keratin/layers/image_geometry.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/image.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

// Layers that change the size of images.
namespace keratin {
namespace {

constexpr int64_t max_size = 1 << 24;

void check_size(std::string_view who, int64_t height, int64_t width) {
  require(height > 0 && width > 0 && height < max_size && width < max_size, who,
          ": height and width must be positive and less than ", max_size, ", got height=", height,
          ", width=", width);
}

bool sizes_known(const Shape& batch) { return batch[1] != unknown && batch[2] != unknown; }

// part · of / by, without the fraction.
int64_t without_fraction(int64_t part, int64_t of, int64_t by) {
  return static_cast<int64_t>(static_cast<double>(part) * static_cast<double>(of) /
                              static_cast<double>(by));
}

Value cut_out(Value x, int64_t top, int64_t left, int64_t height, int64_t width) {
  return ops::slice(x, {0, top, left, 0}, {ops::to_end, top + height, left + width, ops::to_end});
}

using images::Boxes;
using images::Extent;

Extent extent_of(const Shape& batch) { return {batch[1], batch[2]}; }

// Boxes minus a corner, clipped to a size: of a part of the images.
Boxes cut_boxes(Boxes b, double left, double top, double width, double height) {
  b.left = ops::clip(b.left, left, left + width) - left;
  b.right = ops::clip(b.right, left, left + width) - left;
  b.top = ops::clip(b.top, top, top + height) - top;
  b.bottom = ops::clip(b.bottom, top, top + height) - top;
  return b;
}

// The largest part of an image with the aspect ratio of a result, in the middle.
struct Part {
  int64_t top, left, height, width;
};
Part largest_part(const Shape& batch, int64_t height, int64_t width) {
  const int64_t h = std::clamp<int64_t>(without_fraction(batch[2], height, width), 1, batch[1]);
  const int64_t w = std::clamp<int64_t>(without_fraction(batch[1], width, height), 1, batch[2]);
  return {(batch[1] - h) / 2, (batch[2] - w) / 2, h, w};
}

// Where Resizing moves boxes. Keras rounds offsets of whole pixels down.
Boxes resized_boxes(const Boxes& b, const ResizingConfig& cfg, Extent from) {
  const auto height = static_cast<double>(cfg.height), width = static_cast<double>(cfg.width);
  const auto in_height = static_cast<double>(from.height),
             in_width = static_cast<double>(from.width);
  double x = width / in_width, y = height / in_height, left = 0, top = 0;
  if (cfg.pad_to_aspect_ratio) {
    x = y = std::min(x, y);
    left = std::floor((width - in_width * x) / 2), top = std::floor((height - in_height * y) / 2);
  } else if (cfg.crop_to_aspect_ratio) {
    x = y = std::max(x, y);
    left = -std::floor((in_width * x - width) / 2), top = -std::floor((in_height * y - height) / 2);
  }
  Boxes moved = images::scaled(b, x, y);
  moved.left = moved.left + left, moved.right = moved.right + left;
  moved.top = moved.top + top, moved.bottom = moved.bottom + top;
  moved = images::clipped(moved, width, height);
  // Boxes of nothing but 0 or -1 stand for none.
  const auto all = [&](double v) {
    const Value value = ops::scalar_like(b.left, v);
    return ops::equal(b.left, value) & ops::equal(b.top, value) & ops::equal(b.right, value) &
           ops::equal(b.bottom, value);
  };
  const Value none = all(0) | all(-1), zero = ops::scalar_like(b.left, 0);
  for (Value* side : {&moved.left, &moved.top, &moved.right, &moved.bottom})
    *side = ops::where(none, zero, *side);
  return moved;
}

Value in_size(Value x, const Dims& size, const ops::ResizeOptions& options = {}) {
  return ops::resize(x, size, options);
}

}  // namespace

ResizingLayer::ResizingLayer(ResizingConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  check_size(cfg.keras_name, cfg.height, cfg.width);
}

ImageChange ResizingLayer::change(const Call& c, const Shape& batch) const {
  // Keras 2 computes in the dtype of the layer.
  const bool casts = c.dialect() == Dialect::keras2;
  const auto by = [this, casts](const std::string& interpolation) {
    return [this, casts, interpolation](Value x) {
      return in_size(casts ? computed(x) : x, {cfg.height, cfg.width},
                     {.interpolation = interpolation,
                      .antialias = cfg.antialias,
                      .crop_to_aspect_ratio = cfg.crop_to_aspect_ratio,
                      .pad_to_aspect_ratio = cfg.pad_to_aspect_ratio,
                      .fill_mode = cfg.fill_mode,
                      .fill_value = cfg.fill_value});
    };
  };
  const Extent from = extent_of(batch);
  return {
      .images = by(cfg.interpolation),
      .masks = by("nearest"),
      .boxes = images::boxes_by(box_format(), from, {cfg.height, cfg.width},
                                [=, this](const Boxes& b) { return resized_boxes(b, cfg, from); })};
}

CenterCropLayer::CenterCropLayer(CenterCropConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  check_size(cfg.keras_name, cfg.height, cfg.width);
}

ImageChange CenterCropLayer::change(const Call&, const Shape& batch) const {
  const auto cropped = [this, batch](Value x) {
    x = computed(x);
    const int64_t top = (batch[1] - cfg.height) / 2, left = (batch[2] - cfg.width) / 2;
    if (sizes_known(batch) && batch[1] >= cfg.height && batch[2] >= cfg.width)
      return cut_out(x, top, left, cfg.height, cfg.width);
    return in_size(x, {cfg.height, cfg.width}, {.crop_to_aspect_ratio = true});
  };
  const auto boxes = [this, batch](const Boxes& b) {
    const auto height = static_cast<double>(cfg.height), width = static_cast<double>(cfg.width);
    const bool whole = batch[1] >= cfg.height && batch[2] >= cfg.width;
    const Part part =
        whole ? Part{(batch[1] - cfg.height) / 2, (batch[2] - cfg.width) / 2, cfg.height, cfg.width}
              : largest_part(batch, cfg.height, cfg.width);
    const auto h = static_cast<double>(part.height), w = static_cast<double>(part.width);
    const Boxes cut =
        cut_boxes(b, static_cast<double>(part.left), static_cast<double>(part.top), w, h);
    return images::clipped(images::scaled(cut, width / w, height / h), width, height);
  };
  return {
      .images = cropped,
      .masks = cropped,
      .boxes = images::boxes_by(box_format(), extent_of(batch), {cfg.height, cfg.width}, boxes)};
}

RandomCropLayer::RandomCropLayer(RandomCropConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  check_size(cfg.keras_name, cfg.height, cfg.width);
}

ImageChange RandomCropLayer::change(const Call& c, const Shape& batch) const {
  // Keras takes the row from left and right, and the column from top and bottom.
  const auto shifted = [this](Value top, Value left) {
    const auto minus = [](Value a, Value b) { return ops::maximum(a - b, ops::scalar_like(a, 0)); };
    const Extent size = {cfg.height, cfg.width};
    return images::boxes_by(box_format(), size, size, [=](const Boxes& b) {
      return Boxes{minus(b.left, top), minus(b.top, left), minus(b.right, top),
                   minus(b.bottom, left), b.labels};
    });
  };
  // While shapes are inferred, the result has the size of a crop, as Keras declares it.
  if (!batch.known()) {
    const auto standing_in = [this, training = c.training()](Value x) {
      return ops::resize(training ? computed(x) : x, {{cfg.height, cfg.width}, "nearest"});
    };
    return {.images = standing_in, .masks = standing_in};
  }
  if (c.training() && batch[1] > cfg.height && batch[2] > cfg.width) {
    // Truncated, so that each start is as likely as the others.
    const auto start_of = [&](int64_t room) {
      return ops::cast(uniform(c, {}, 0, static_cast<double>(room + 1)), DType::i32);
    };
    const Value top = start_of(batch[1] - cfg.height), left = start_of(batch[2] - cfg.width);
    const auto cropped = [this, top, left](Value x) {
      const Value zero = ops::scalar_like(top, 0);
      return ops::dynamic_slice(computed(x), Values{zero, top, left, zero},
                                {-1, cfg.height, cfg.width, -1});
    };
    return {.images = cropped,
            .masks = cropped,
            .boxes = shifted(ops::cast(top, DType::f32), ops::cast(left, DType::f32))};
  }
  const Part part = largest_part(batch, cfg.height, cfg.width);
  const auto cropped = [this, part](Value x) {
    x = cut_out(computed(x), part.top, part.left, cfg.height, cfg.width);
    return in_size(x, {cfg.height, cfg.width});
  };
  // In inference Keras leaves images and boxes as they are, but crops segmentation masks.
  if (!c.training()) return {.masks = cropped};
  const auto number = [&](int64_t n) {
    return ops::full(c.block(), DType::f32, {}, static_cast<double>(n));
  };
  return {
      .images = cropped, .masks = cropped, .boxes = shifted(number(part.top), number(part.left))};
}

template <ImageAxis axis>
RandomSizeLayer<axis>::RandomSizeLayer(RandomSizeConfig<axis> config, LayerOptions options)
    : LayerOf<RandomSizeLayer, RandomSizeConfig<axis>>(std::move(config), std::move(options)) {
  const auto& ends = this->cfg.factor.values();
  require(!ends.empty() && ends.size() <= 2, this->cfg.keras_name,
          ": `factor` must be a number or two, got ", ends.size(), " numbers");
  const double low = this->cfg.factor.single() ? -ends[0] : ends.front(), high = ends.back();
  require(high >= low,
          "`factor` argument cannot have an upper bound lesser than the lower bound. Received: "
          "factor=",
          this->cfg.factor.to_json());
  require(low >= -1 && high >= -1,
          "`factor` argument must have values larger than -1. Received: factor=",
          this->cfg.factor.to_json());
  this->add_seed(this->cfg.seed);
  this->set_built();
}

template <ImageAxis axis>
Results RandomSizeLayer<axis>::call(const Call& c) const {
  const std::string_view who = this->cfg.keras_name;
  require(
      c.argument(0).is_leaf(), who, " '", this->name(),
      "': This layer can only process a tensor representing an image or a batch of images, got ",
      c.argument(0).outline());
  const Value x = c.input();
  if (!c.training()) return x;
  const auto& ends = this->cfg.factor.values();
  require(ends.front() == ends.back() && (!this->cfg.factor.single() || ends[0] == 0), who, " '",
          this->name(),
          "': the size of its result is random in training, and a program needs sizes ",
          "that are known. Train with a factor of two equal numbers, or without the layer; got "
          "factor=",
          this->cfg.factor.to_json());
  require(x.rank() == 3 || x.rank() == 4, who, " '", this->name(),
          "': expected an image or a batch of images, got shape ", keras_shape(x.shape()));
  Dims size = {x.shape()[x.rank() - 3], x.shape()[x.rank() - 2]};
  require(size[0] != unknown && size[1] != unknown, who, " '", this->name(),
          "': height and width must be known in training, got shape ", keras_shape(x.shape()));
  int64_t& changed = size[axis == ImageAxis::height ? 0 : 1];
  const float wanted = static_cast<float>(1 + ends[0]) * static_cast<float>(changed);
  require(wanted >= 1 && wanted < static_cast<float>(max_size), who, " '", this->name(),
          "': cannot make images of a size of ", wanted);
  changed = static_cast<int64_t>(wanted);
  const Value y = x.rank() == 3 ? ops::expand_dims(x, 0) : x;
  const Value of = ops::cast(y, is_float(x.dtype()) ? x.dtype() : DType::f32);
  const Value z =
      ops::cast(ops::resize(of, {size, this->cfg.interpolation}), this->compute_dtype());
  return x.rank() == 3 ? ops::squeeze(z, 0) : z;
}

template class RandomSizeLayer<ImageAxis::height>;
template class RandomSizeLayer<ImageAxis::width>;

}  // namespace keratin

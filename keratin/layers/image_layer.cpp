#include "keratin/base/text.h"
#include "keratin/layers/image_geometry.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/image_sampling.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

// The shape of images as a batch with channels last.
Shape batch_shape(const Shape& images, const std::string& data_format) {
  require(images.rank() == 3 || images.rank() == 4,
          "Expected image tensor to have rank 3 (single image) or 4 (batch of images). Received: "
          "data.shape=",
          keras_shape(images));
  Dims dims = images.dims();
  if (dims.size() == 3) dims.insert(dims.begin(), 1);
  if (data_format == "channels_first") dims = {dims[0], dims[2], dims[3], dims[1]};
  return Shape(dims);
}

}  // namespace

std::string ImageLayer::checked_data_format(const std::string& data_format) {
  return windows::data_format(data_format);
}

Value ImageLayer::uniform(const Call& c, const Shape& shape, double low, double high) const {
  // Sizes are unknown only while shapes are inferred; then the number of words does not matter.
  const int64_t words = shape.known() ? ops::random_words(DType::f32, shape) : 0;
  const Value key = c.random_key(*drawn_from_, words);
  if (low < high) return ops::random_uniform(key, DType::f32, shape, low, high);
  return ops::fill_like(ops::random_uniform(key, DType::f32, shape), low, DType::f32);
}

Value ImageLayer::computed(Value x) const { return ops::cast(x, compute_dtype()); }

Results ImageLayer::changed_boxes(const ImageChange& by, const Tree<Traced>& boxes,
                                  bool batched) const {
  require(box_format_ && !box_format_->empty(),
          "You passed an input with a 'bounding_boxes' key, but you didn't specify a bounding box "
          "format. Pass a `bounding_box_format` argument to your ",
          class_name(), " layer, e.g. `bounding_box_format='xyxy'`.");
  require(boxes.is_dict() && boxes.dict().contains("boxes") && boxes.dict().contains("labels"),
          "Expected `bounding_boxes` agurment to be a dict with keys 'boxes' and 'labels'. "
          "Received: bounding_boxes=",
          boxes.outline());
  const Value corners = boxes["boxes"].leaf().value, labels = boxes["labels"].leaf().value;
  const int64_t rank = batched ? 3 : 2;
  require(
      corners.rank() == rank && (corners.shape().back() == 4 || corners.shape().back() == unknown),
      class_name(), " '", name(), "': expected bounding boxes of rank ", rank,
      ", the last axis of size 4, got shape ", keras_shape(corners.shape()));
  require(labels.rank() >= rank - 1, class_name(), " '", name(), "': expected labels of rank ",
          rank - 1, " or more, got shape ", keras_shape(labels.shape()));
  // Keras's boxes are float32 in every layer.
  Values now = {ops::cast(corners, DType::f32), labels};
  if (by.boxes) {
    if (!batched) now = {ops::expand_dims(now[0], 0), ops::expand_dims(labels, 0)};
    now = by.boxes(now[0], now[1]);
    if (!batched) now = {ops::squeeze(now[0], 0), ops::squeeze(now[1], 0)};
  }
  return Results::Dict{{"boxes", now[0]}, {"labels", now[1]}};
}

Results ImageLayer::call(const Call& c) const {
  const auto changed = [&](const std::function<Value(Value)>& function, Value images) {
    if (!function) return images;
    return ops::on_batch(class_name(), images, data_format_, function);
  };
  if (!c.argument(0).is_dict()) {
    const Value images = c.input();
    return changed(change(c, batch_shape(images.shape(), data_format_)).images, images);
  }
  const Tree<Traced>::Dict& data = c.argument(0).dict();
  const auto images = data.find("images");
  require(images != data.end() && images->second.is_leaf(), class_name(), " '", name(),
          "': expected a dict with 'images', got ", c.argument(0).outline());
  const Shape given = images->second.leaf().value.shape();
  const ImageChange by = change(c, batch_shape(given, data_format_));
  Results::Dict results;
  for (const auto& [key, item] : data) {
    if (key == "bounding_boxes")
      results.emplace(key, changed_boxes(by, item, given.rank() == 4));
    else if (!item.is_leaf())
      results.emplace(key, item.map<Value>([](const Traced& t) { return t.value; }));
    else if (key == "images" || key == "segmentation_masks")
      results.emplace(key, changed(key == "images" ? by.images : by.masks, item.leaf().value));
    else
      results.emplace(
          key, key == "labels" && by.labels ? by.labels(item.leaf().value) : item.leaf().value);
  }
  return results;
}

MaxNumBoundingBoxesLayer::MaxNumBoundingBoxesLayer(MaxNumBoundingBoxesConfig config,
                                                   LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(cfg);
  constexpr int64_t limit = 1 << 20;
  require(cfg.max_number >= 0 && cfg.max_number <= limit,
          "MaxNumBoundingBoxes: max_number must be ", "from 0 to ", limit, ", got ",
          cfg.max_number);
}

ImageChange MaxNumBoundingBoxesLayer::change(const Call&, const Shape&) const {
  const auto limited = [this](Value x) -> Value {
    const int64_t count = x.shape()[1];
    if (count == unknown) {  // while shapes are inferred
      Dims shape(static_cast<size_t>(x.rank()), ops::keep_size);
      shape[1] = cfg.max_number;
      return ops::reshape(x, shape);
    }
    x = ops::slice_axis(x, 1, 0, cfg.max_number);
    if (count >= cfg.max_number) return x;
    Dims none(static_cast<size_t>(x.rank()), 0), missing = none;
    missing[1] = cfg.max_number - count;
    return ops::pad(
        x,
        {.lo = none, .hi = missing, .interior = {}, .value = static_cast<double>(cfg.fill_value)});
  };
  return {.boxes = [=](Value boxes, Value labels) {
    return Values{limited(boxes), limited(labels)};
  }};
}

}  // namespace keratin

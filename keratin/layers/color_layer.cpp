#include <algorithm>
#include <cmath>
#include <map>

#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

Value value_of(const Tree<Traced>& tree) { return tree.leaf().value; }

// Changes a batch, which is a batch of one for what comes without.
Value changed_batch(Value x, bool batched, const std::function<Value(Value)>& change) {
  if (!change) return x;
  return batched ? change(x) : ops::squeeze(change(ops::expand_dims(x, 0)), 0);
}

// As Keras's function of that name, for tensors: what it also takes are lists and ragged tensors.
void validate_boxes(const Tree<Traced>& data) {
  require(data.is_dict() && data.dict().contains("boxes") && data.dict().contains("labels"),
          "Expected `bounding_boxes` agurment to be a dict with keys 'boxes' and 'labels'. "
          "Received: bounding_boxes=",
          data.outline());
  const Shape boxes = value_of(data["boxes"]).shape(), labels = value_of(data["labels"]).shape();
  require(boxes.rank() == 2 || boxes.rank() == 3,
          "Expected `bounding_boxes['boxes']` to have rank 2 or 3, with shape (num_boxes, 4) or "
          "(batch_size, num_boxes, 4). Received: bounding_boxes['boxes'].shape=",
          keras_shape(boxes));
  require(labels.rank() == boxes.rank() - 1 || labels.rank() == boxes.rank(),
          "Found bounding_boxes['boxes'].shape=", keras_shape(boxes),
          " and expected bounding_boxes['labels'] to have rank ", boxes.rank() - 1, " or ",
          boxes.rank(), ", but received: bounding_boxes['labels'].shape=", keras_shape(labels),
          " ");
}

std::string written(const Numbers& numbers) { return config::write(numbers).dump(); }

void check_factor(bool fits, std::string_view name, double lowest, double highest,
                  const std::string& given) {
  require(fits, "The `", name,
          "` argument should be a number (or a list of two numbers) in the range [", lowest, ", ",
          highest, "]. Received: factor=", given);
}

}  // namespace

namespace detail {

std::string image_data_format(std::string given) { return windows::data_format(std::move(given)); }

Numbers image_factor(const Numbers& given, double lowest, double highest, std::string_view name) {
  const std::vector<double>& f = given.values();
  const bool fits = given.single() ? f[0] >= lowest && f[0] <= highest
                                   : f.size() == 2 && f[0] <= highest && f[1] >= lowest;
  check_factor(fits, name, lowest, highest, written(given));
  if (!given.single()) return {std::min(f[0], f[1]), std::max(f[0], f[1])};
  const double size = std::abs(f[0]);
  return {std::max(size == 0 ? 0 : -size, lowest), size};
}

Sizes image_factor(const Sizes& given, double lowest, double highest) {
  const Dims& f = given.dims();
  const std::vector<double> numbers(f.begin(), f.end());
  const Numbers ends = image_factor(given.single() ? Numbers(numbers.at(0)) : Numbers(numbers),
                                    lowest, highest, "factor");
  return {static_cast<int64_t>(image::low(ends)), static_cast<int64_t>(image::high(ends))};
}

Numbers image_value_range(Numbers given, bool sorted) {
  require(!given.single() && given.values().size() == 2,
          "The `value_range` argument should be a list of two numbers. Received: value_range=",
          written(given));
  std::vector<double> ends = given.values();
  if (sorted) std::sort(ends.begin(), ends.end());
  return ends;
}

}  // namespace detail

Results ColorLayer::draw(const Call&, Value, const Variable&) const { return {}; }
Value ColorLayer::transform_images(const Call&, Value images, const Results&) const {
  return images;
}
Value ColorLayer::transform_labels(const Call&, Value labels, const Results&) const {
  return labels;
}
Results ColorLayer::transform_bounding_boxes(const Call&, Results boxes, const Results&) const {
  return boxes;
}
Value ColorLayer::transform_segmentation_masks(const Call&, Value masks, const Results&) const {
  return masks;
}

ColorChange ColorLayer::change(const Call& c, Value images, const Variable& seed) const {
  const Results drawn = c.training() && seed.defined() ? draw(c, images, seed) : Results();
  return {
      .images = [=, this](Value x) { return transform_images(c, x, drawn); },
      .labels = [=, this](Value x) { return transform_labels(c, x, drawn); },
      .segmentation_masks = [=,
                             this](Value x) { return transform_segmentation_masks(c, x, drawn); },
      .bounding_boxes =
          [=, this](Results x) { return transform_bounding_boxes(c, std::move(x), drawn); },
  };
}

std::string_view ColorLayer::rank_error() const {
  return "Expected image tensor to have rank 3 (single image) or 4 (batch of images). Received: "
         "data.shape=";
}

Results ColorLayer::changed_boxes(const Tree<Traced>& boxes, bool batched,
                                  const ColorChange& by) const {
  require(box_format_ && !box_format_->empty(),
          "You passed an input with a 'bounding_boxes' key, but you didn't specify a bounding box "
          "format. Pass a `bounding_box_format` argument to your ",
          class_name(), " layer, e.g. `bounding_box_format='xyxy'`.");
  validate_boxes(boxes);
  const auto per_key = [&](const Results& tree, const auto& change) {
    Results::Dict out;
    for (const auto& [key, value] : tree.dict())
      out.emplace(key, key == "boxes" || key == "labels" ? Results(change(value.leaf())) : value);
    return Results(std::move(out));
  };
  Results::Dict in_floats = boxes.map<Value>([](const Traced& t) { return t.value; }).dict();
  in_floats.insert_or_assign("boxes", ops::cast(in_floats.at("boxes").leaf(), DType::f32));
  const Results given = std::move(in_floats);
  if (!by.bounding_boxes) return given;
  if (batched) return by.bounding_boxes(given);
  const Results one = per_key(given, [](Value x) { return ops::expand_dims(x, 0); });
  return per_key(by.bounding_boxes(one), [](Value x) { return ops::squeeze(x, 0); });
}

Results ColorLayer::call(const Call& c) const {
  const Tree<Traced>& data = c.argument(0);
  require(!data.is_dict() || data.dict().contains("images"), class_name(), " '", name(),
          "': expected images, or a dict with the key 'images', got ", data.outline());
  const Value images = data.is_dict() ? value_of(data["images"]) : c.input();
  require(images.rank() == 3 || images.rank() == 4, rank_error(), keras_shape(images.shape()));
  const bool batched = images.rank() == 4;
  const ColorChange by = change(c, batched ? images : ops::expand_dims(images, 0), seed_);
  if (!data.is_dict()) return changed_batch(images, batched, by.images);
  const std::map<std::string_view, std::function<Value(Value)>> changes = {
      {"images", by.images}, {"labels", by.labels}, {"segmentation_masks", by.segmentation_masks}};
  Results::Dict out;
  for (const auto& [key, item] : data.dict()) {
    if (const auto found = changes.find(key); found != changes.end())
      out.emplace(key, changed_batch(value_of(item), batched, found->second));
    else if (key == "bounding_boxes")
      out.emplace(key, changed_boxes(item, batched, by));
    else
      out.emplace(key, item.map<Value>([](const Traced& t) { return t.value; }));
  }
  return out;
}

}  // namespace keratin

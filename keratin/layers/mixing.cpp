// Layers that mix the images of a batch.
#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

using image::drawn_value;

// weight · a + (1 - weight) · b, in the dtype in which the weight and a tensor meet
Value mixture(Value weight, Value a, Value b) {
  const Values same = ops::promote({weight, a, b});
  return same[0] * same[1] + (1.0 - same[0]) * same[2];
}

Value in_order(Value x, const Results& drawn, int64_t axis = 0) {
  return ops::take(x, drawn_value(drawn, "permutation_order"), axis);
}

Value as_column(Value weights) { return ops::reshape(weights, {ops::infer_size, 1}); }

// Everything in one row; its size may be unknown.
Value in_a_row(Value x) { return ops::reshape(x, {ops::infer_size}); }

}  // namespace

CutMixLayer::CutMixLayer(CutMixConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.factor = detail::image_factor(cfg.factor, 0, 1);
}

// As in Keras, "mix_weight" is the share of the image itself, by the area of the box.
Results CutMixLayer::draw(const Call& c, Value images, const Variable& seed) const {
  const DType dtype = compute_dtype();
  if (!image::is_batch(c)) return {};
  const image::Draws draws(c, seed);
  const image::Axes axes = image::axes_of(cfg.data_format);
  const Value alpha = draws.uniform({}, cfg.factor, dtype) + 1e-6;
  const Value weight =
      ops::cast(draws.beta(images.shape()[0], ops::cast(alpha, DType::f32)), dtype);
  const Value side = ops::sqrt(1.0 - weight);
  const image::Boxes boxes = image::random_boxes(draws, images, side, side, axes, dtype);
  const double all = image::length(images, axes.width) * image::length(images, axes.height);
  const Value area = (boxes.right - boxes.left) * (boxes.bottom - boxes.top);
  return Results::Dict{{"batch_masks", image::inside(images, boxes, axes, dtype)},
                       {"mix_weight", image::aligned(1.0 - area / all)},
                       {"permutation_order", draws.order(images)}};
}

Value CutMixLayer::transform_images(const Call&, Value images, const Results& drawn) const {
  images = ops::cast(images, compute_dtype());
  if (drawn.is_none()) return images;
  return ops::where(drawn_value(drawn, "batch_masks"), in_order(images, drawn), images);
}

Value CutMixLayer::transform_labels(const Call&, Value labels, const Results& drawn) const {
  if (drawn.is_none()) return labels;
  return mixture(as_column(drawn_value(drawn, "mix_weight")), labels, in_order(labels, drawn));
}

Results CutMixLayer::transform_bounding_boxes(const Call&, Results, const Results&) const {
  fail("CutMix '", name(), "': bounding boxes cannot be mixed; Keras does not do it either");
}

Value CutMixLayer::transform_segmentation_masks(const Call& c, Value masks,
                                                const Results& drawn) const {
  return transform_images(c, masks, drawn);
}

MixUpLayer::MixUpLayer(MixUpConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  require(cfg.alpha > 0, "MixUp '", name(), "': alpha must be positive, got ", cfg.alpha);
}

Results MixUpLayer::draw(const Call& c, Value images, const Variable& seed) const {
  const image::Draws draws(c, seed);
  const Value order = draws.order(images);
  const Value alpha = ops::constant(c.block(), Tensor::scalar(DType::f32, cfg.alpha));
  return Results::Dict{{"mix_weight", draws.beta(images.shape()[0], alpha)},
                       {"permutation_order", order}};
}

Value MixUpLayer::transform_images(const Call&, Value images, const Results& drawn) const {
  if (drawn.is_none()) return images;
  images = ops::cast(images, compute_dtype());
  const Value weight = ops::cast(image::aligned(drawn_value(drawn, "mix_weight")), images.dtype());
  return mixture(weight, images, in_order(images, drawn));
}

Value MixUpLayer::transform_labels(const Call&, Value labels, const Results& drawn) const {
  if (drawn.is_none()) return labels;
  return mixture(as_column(drawn_value(drawn, "mix_weight")), labels, in_order(labels, drawn));
}

Results MixUpLayer::transform_bounding_boxes(const Call&, Results boxes,
                                             const Results& drawn) const {
  if (drawn.is_none()) return boxes;
  const Value at = boxes["boxes"].leaf(), labels = boxes["labels"].leaf();
  return Results::Dict{{"boxes", ops::concatenate({at, in_order(at, drawn)}, 1)},
                       {"labels", ops::concatenate({labels, in_order(labels, drawn)}, 0)}};
}

Value MixUpLayer::transform_segmentation_masks(const Call&, Value masks,
                                               const Results& drawn) const {
  if (drawn.is_none()) return masks;
  return mixture(image::aligned(drawn_value(drawn, "mix_weight")), masks,
                 in_order(in_a_row(masks), drawn));
}

}  // namespace keratin

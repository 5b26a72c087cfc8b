#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"

namespace keratin {

RandomErasingLayer::RandomErasingLayer(RandomErasingConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.factor = detail::image_factor(cfg.factor, 0, 1);
  cfg.scale = detail::image_factor(cfg.scale, 0, 1, "scale");
  cfg.value_range = detail::image_value_range(cfg.value_range, false);
}

std::string_view RandomErasingLayer::rank_error() const {
  return "Expected the input image to be rank 3 or 4. Received inputs.shape=";
}

Value RandomErasingLayer::fill(const Call& c, Value images, const Variable& seed) const {
  const DType dtype = compute_dtype();
  if (!cfg.fill_value) {
    const Value noise = image::Draws(c, seed).normal(images.shape(), dtype);
    return image::clip(noise * image::high(cfg.value_range), cfg.value_range);
  }
  const std::vector<double>& given = cfg.fill_value->values();
  require(cfg.fill_value->single() || given.size() == 3,
          "The `fill_value` argument should be a number (or a list of three numbers) ");
  const Shape shape{1, 1, 1, static_cast<int64_t>(given.size())};
  return image::clip(ops::constant(c.block(), Tensor::of(dtype, shape, given)), cfg.value_range);
}

Results RandomErasingLayer::draw(const Call& c, Value images, const Variable& seed) const {
  const DType dtype = compute_dtype();
  const image::Draws draws(c, seed);
  const image::Axes axes = image::axes_of(cfg.data_format);
  const auto side = [&] {
    return ops::sqrt(draws.uniform(image::per_image(images), cfg.scale, dtype));
  };
  const Value width = side(), height = side();
  const image::Boxes boxes = image::random_boxes(draws, images, width, height, axes, dtype);
  const Value apply = draws.happens(images, cfg.factor);
  return Results::Dict{{"apply_erasing", apply},
                       {"batch_masks", image::inside(images, boxes, axes, dtype)},
                       {"fill_value", fill(c, images, seed)}};
}

Value RandomErasingLayer::transform_images(const Call& c, Value images,
                                           const Results& drawn) const {
  images = ops::cast(images, compute_dtype());
  if (!c.training()) return images;
  const Value filling = ops::cast(image::drawn_value(drawn, "fill_value"), images.dtype());
  const Value erased = ops::where(image::drawn_value(drawn, "batch_masks"), filling, images);
  return ops::where(image::aligned(image::drawn_value(drawn, "apply_erasing")), erased, images);
}

}  // namespace keratin

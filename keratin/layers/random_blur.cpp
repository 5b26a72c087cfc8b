// Layers that blur some of the images or take their colours.
#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/image.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// One odd size for both axes, or one for each.
Sizes blur_kernel_size(const Sizes& given) {
  const Dims& size = given.dims();
  const std::string written = config::write(given).dump();
  require(given.single() || size.size() == 2,
          "The `kernel_size` argument should be a number (or a list of two numbers) Received: "
          "kernel_size=",
          written);
  for (const int64_t n : size)
    require(n % 2 != 0 && n > 0,
            "kernel_size must be an odd number. Received: kernel_size=", written);
  constexpr int64_t max_size = 4095;
  for (const int64_t n : size)
    require(n <= max_size, "RandomGaussianBlur: kernel_size must be at most ", max_size, ", got ",
            written);
  return given.expand(2, "RandomGaussianBlur");
}

}  // namespace

RandomGaussianBlurLayer::RandomGaussianBlurLayer(RandomGaussianBlurConfig config,
                                                 LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.factor = detail::image_factor(cfg.factor, 0, 1);
  cfg.kernel_size = blur_kernel_size(cfg.kernel_size);
  cfg.sigma = detail::image_factor(cfg.sigma, 0, 1, "sigma");
  cfg.value_range = detail::image_value_range(cfg.value_range, false);
}

std::string_view RandomGaussianBlurLayer::rank_error() const {
  return "Expected the input image to be rank 3 or 4. Received inputs.shape=";
}

Results RandomGaussianBlurLayer::draw(const Call& c, Value images, const Variable& seed) const {
  const image::Draws draws(c, seed);
  const Value apply = draws.happens(images, cfg.factor);
  return Results::Dict{{"blur_factor", draws.uniform({2}, cfg.sigma, compute_dtype()) + 1e-6},
                       {"should_apply_blur", apply}};
}

Value RandomGaussianBlurLayer::transform_images(const Call& c, Value images,
                                                const Results& drawn) const {
  images = ops::cast(images, compute_dtype());
  if (!c.training()) return images;
  const Value sigma = ops::cast(image::drawn_value(drawn, "blur_factor"), images.dtype());
  const Value blurred = ops::gaussian_blur(images, cfg.kernel_size.dims(), sigma, cfg.data_format);
  const Value apply = image::aligned(image::drawn_value(drawn, "should_apply_blur"));
  return image::clip(ops::where(apply, blurred, images), cfg.value_range);
}

RandomGrayscaleLayer::RandomGrayscaleLayer(RandomGrayscaleConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  require(cfg.factor >= 0 && cfg.factor <= 1,
          "`factor` should be between 0 and 1. Received: factor=", Json(cfg.factor).dump());
}

Results RandomGrayscaleLayer::draw(const Call& c, Value images, const Variable& seed) const {
  return image::Draws(c, seed).uniform(image::on_images(images), 0, 1) < cfg.factor;
}

Value RandomGrayscaleLayer::transform_images(const Call& c, Value images,
                                             const Results& drawn) const {
  if (!c.training()) return images;
  return ops::where(drawn.leaf(), ops::rgb_to_grayscale(images, cfg.data_format), images);
}

}  // namespace keratin

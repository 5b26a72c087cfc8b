#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

constexpr std::string_view solarization_error =
    "The `addition_factor` and `threshold_factor` arguments should be a number (or a list of two "
    "numbers) in the range [0, 1]. Received: ";

// [0, f] of a single f, or two numbers in order.
Numbers solarization_factor(const Numbers& given, std::string_view name) {
  const std::vector<double>& f = given.values();
  require(given.single() || f.size() == 2, solarization_error, name, "=",
          config::write(given).dump());
  for (const double number : f)
    require(number >= 0 && number <= 1, solarization_error, "input_number=", Json(number).dump());
  if (given.single()) return {0, f[0]};
  return {std::min(f[0], f[1]), std::max(f[0], f[1])};
}

}  // namespace

SolarizationLayer::SolarizationLayer(SolarizationConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.addition_factor = solarization_factor(cfg.addition_factor, "addition_factor");
  cfg.threshold_factor = solarization_factor(cfg.threshold_factor, "threshold_factor");
  cfg.value_range = detail::image_value_range(cfg.value_range, true);
}

// As in Keras, the upper end alone is scaled to levels.
Results SolarizationLayer::draw(const Call& c, Value images, const Variable& seed) const {
  const auto number = [&](const Numbers& factor) {
    return image::Draws(c, seed).uniform(image::on_images(images), image::low(factor),
                                         image::high(factor) * 255, compute_dtype());
  };
  const Value additions = number(cfg.addition_factor);
  return Results::Dict{{"additions", additions}, {"thresholds", number(cfg.threshold_factor)}};
}

Value SolarizationLayer::transform_images(const Call& c, Value images, const Results& drawn) const {
  const DType dtype = compute_dtype();
  images = ops::cast(images, dtype);
  if (!c.training()) return images;
  const auto number = [&](std::string_view key) {
    return ops::cast(image::drawn_value(drawn, key), dtype);
  };
  images = image::to_range(images, cfg.value_range, image::levels(), dtype);
  const Value x = ops::clip(images + number("additions"), 0, 255);
  const Value kept = ops::where(x < number("thresholds"), x, 255.0 - x);
  return image::to_range(kept, image::levels(), cfg.value_range, dtype);
}

}  // namespace keratin

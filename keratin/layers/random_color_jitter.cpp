#include "keratin/graph/named.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

template <class L>
void RandomColorJitterLayer::add_part(const std::optional<Numbers>& factor) {
  if (!factor) return;
  typename L::ConfigType config;
  config.factor = *factor;
  config.value_range = cfg.value_range;
  config.seed = cfg.seed;
  const auto part = std::make_shared<L>(std::move(config), LayerOptions{});
  add_sublayer(snake_case(part->class_name()), part);
  parts_.push_back(part);
}

RandomColorJitterLayer::RandomColorJitterLayer(RandomColorJitterConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  add_part<RandomColorLayer<BrightnessRule>>(cfg.brightness_factor);
  add_part<RandomColorLayer<ContrastRule>>(cfg.contrast_factor);
  add_part<RandomColorLayer<SaturationRule>>(cfg.saturation_factor);
  add_part<RandomColorLayer<HueRule>>(cfg.hue_factor);
}

// By the names of the classes; all of one seed, that of this layer.
Results RandomColorJitterLayer::draw(const Call& c, Value images, const Variable& seed) const {
  Results::Dict drawn;
  for (const auto& part : parts_)
    drawn.emplace(part->class_name(), part->draw(c, images, seed).map<Value>([&](Value number) {
      return part->class_name() == "RandomContrast" ? ops::cast(number, compute_dtype()) : number;
    }));
  return drawn;
}

Value RandomColorJitterLayer::transform_images(const Call& c, Value images,
                                               const Results& drawn) const {
  if (!c.training()) return images;
  images = ops::cast(images, compute_dtype());
  for (const auto& part : parts_)
    images = part->transform_images(c, images, drawn[part->class_name()]);
  return ops::cast(images, compute_dtype());
}

}  // namespace keratin

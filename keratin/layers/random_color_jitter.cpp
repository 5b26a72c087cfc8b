#include "keratin/graph/named.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

template <class L>
void RandomColorJitterLayer::add_jitter(const std::optional<Numbers>& factor) {
  if (!factor) return;
  typename L::ConfigType config;
  config.factor = *factor;
  config.value_range = cfg.value_range;
  config.seed = cfg.seed;
  const auto layer = std::make_shared<L>(std::move(config), LayerOptions{});
  add_sublayer(snake_case(layer->class_name()), layer);
  layers_.push_back(layer);
}

RandomColorJitterLayer::RandomColorJitterLayer(RandomColorJitterConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  add_jitter<RandomColorLayer<BrightnessRule>>(cfg.brightness_factor);
  add_jitter<RandomColorLayer<ContrastRule>>(cfg.contrast_factor);
  add_jitter<RandomColorLayer<SaturationRule>>(cfg.saturation_factor);
  add_jitter<RandomColorLayer<HueRule>>(cfg.hue_factor);
}

// By the names of the classes; all of one seed, that of this layer.
Results RandomColorJitterLayer::draw(const Call& c, Value images, const Variable& seed) const {
  Results::Dict drawn;
  for (const auto& layer : layers_)
    drawn.emplace(layer->class_name(), layer->draw(c, images, seed).map<Value>([&](Value number) {
      return layer->class_name() == "RandomContrast" ? ops::cast(number, compute_dtype()) : number;
    }));
  return drawn;
}

Value RandomColorJitterLayer::transform_images(const Call& c, Value images,
                                               const Results& drawn) const {
  if (!c.training()) return images;
  images = ops::cast(images, compute_dtype());
  for (const auto& layer : layers_)
    images = layer->transform_images(c, images, drawn[layer->class_name()]);
  return ops::cast(images, compute_dtype());
}

}  // namespace keratin

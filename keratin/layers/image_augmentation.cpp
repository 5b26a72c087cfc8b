// Layers that change images by other layers, chosen at random.
#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/layers/image_augmentation.h"
#include "keratin/layers/image_geometry.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/cond.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/image_sampling.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/softmax.h"

namespace keratin {
namespace {

constexpr int64_t max_changes = 64;  // each is a piece of the program

template <class L, class C>
LayerPtr layer_of(const C& whole, const LayerOptions& options) {
  typename L::ConfigType config;
  config.data_format = whole.data_format;
  config.bounding_box_format = whole.bounding_box_format;
  if constexpr (requires { config.value_range; }) config.value_range = whole.value_range;
  if constexpr (requires { config.interpolation; }) config.interpolation = whole.interpolation;
  if constexpr (requires { config.seed; }) config.seed = whole.seed;
  const Numbers& factor = whole.factor;
  if constexpr (requires { config.x_factor; }) config.x_factor = config.y_factor = factor;
  if constexpr (requires { config.height_factor; })
    config.height_factor = config.width_factor = factor;
  if constexpr (requires { config.addition_factor; })
    config.addition_factor = config.threshold_factor = factor;
  if constexpr (std::is_same_v<L, RandomColorLayer<PosterizationRule>>)
    config.factor = std::max<int64_t>(1, static_cast<int64_t>(8 * image::high(factor)));
  else if constexpr (requires { config.factor; })
    config.factor = factor;
  return std::make_shared<L>(std::move(config), LayerOptions{.dtype = options.dtype});
}

// The layers in the order of AugMix.
template <class C>
std::vector<LayerPtr> make_layers(const C& whole, const LayerOptions& options, bool all) {
  std::vector<LayerPtr> layers = {
      layer_of<RandomShearLayer>(whole, options),
      layer_of<RandomTranslationLayer>(whole, options),
      layer_of<RandomRotationLayer>(whole, options),
      layer_of<RandomColorLayer<PosterizationRule>>(whole, options),
      layer_of<SolarizationLayer>(whole, options),
      layer_of<AutoContrastLayer>(whole, options),
      layer_of<EqualizationLayer>(whole, options),
  };
  if (!all) return layers;
  layers.push_back(layer_of<RandomColorLayer<BrightnessRule>>(whole, options));
  layers.push_back(layer_of<RandomColorLayer<ColorDegenerationRule>>(whole, options));
  layers.push_back(layer_of<RandomColorLayer<ContrastRule>>(whole, options));
  layers.push_back(layer_of<RandomColorLayer<SharpnessRule>>(whole, options));
  return layers;
}

void share_seed(const std::vector<LayerPtr>& layers, const Variable& seed) {
  for (const LayerPtr& layer : layers)
    if (auto* geometry = dynamic_cast<ImageLayer*>(layer.get())) geometry->draw_from(seed);
}

// One change with its own random numbers by a layer that moves pixels.
ColorChange change_by(const ImageLayer& layer, const Call& c, Value images,
                      const std::string& data_format) {
  const auto [height, width, channels] = image::axes_of(data_format);
  const Shape& s = images.shape();
  const ImageChange by = layer.change(c, {s[0], s[height], s[width], s[channels]});
  const auto on_batch = [&](const std::function<Value(Value)>& change) {
    return [change, data_format, who = layer.class_name()](Value x) {
      return ops::on_batch(who, x, data_format, change);
    };
  };
  return {.images = on_batch(by.images),
          .segmentation_masks = on_batch(by.masks),
          .bounding_boxes = [by](const Results& given) {
            const Values changed = by.boxes(given["boxes"].leaf(), given["labels"].leaf());
            return Results(Results::Dict{{"boxes", changed[0]}, {"labels", changed[1]}});
          }};
}

// One change with its own random numbers by each layer. Layers that change colours leave masks and
// boxes alone.
std::vector<ColorChange> changes_by(const std::vector<LayerPtr>& layers, const Call& c,
                                    Value images, const Variable& seed,
                                    const std::string& data_format) {
  std::vector<ColorChange> changes;
  for (const LayerPtr& layer : layers) {
    if (const auto* color = dynamic_cast<const ColorLayer*>(layer.get()))
      changes.push_back({.images = color->change(c, images, seed).images});
    else
      changes.push_back(change_by(dynamic_cast<const ImageLayer&>(*layer), c, images, data_format));
  }
  return changes;
}

Value whole_number(Value like, int64_t number) {
  return ops::constant(like.block(), Tensor::of<int64_t>(DType::i32, {}, {number}));
}

// Of a vector, as a scalar.
Value element(Value vector, int64_t i) {
  return ops::reshape(ops::slice_axis(vector, 0, i, i + 1), {});
}

// What one change of several makes of x, that of the number `chosen`; x if there is none. The
// others are not computed.
Value changed_by(Value chosen, const std::vector<ColorChange>& changes,
                 std::function<Value(Value)> ColorChange::*what, Value x) {
  for (size_t k = 0; k < changes.size(); ++k) {
    const auto& change = changes[k].*what;
    if (!change) continue;
    const Value here = ops::equal(chosen, whole_number(chosen, static_cast<int64_t>(k)));
    x = ops::cond(
        here, {x}, [&](const Values& in) { return Values{ops::cast(change(in[0]), x.dtype())}; },
        [](const Values& in) { return in; })[0];
  }
  return x;
}

void check_count(std::string_view who, std::string_view name, int64_t count) {
  require(count >= 0 && count <= max_changes, who, ": ", name, " must be between 0 and ",
          max_changes, ", got ", count);
}

}  // namespace

RandAugmentLayer::RandAugmentLayer(RandAugmentConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  check_count("RandAugment", "num_ops", cfg.num_ops);
  cfg.factor = detail::image_factor(cfg.factor, 0, 1);
  layers_ = make_layers(cfg, this->options(), true);
  for (const LayerPtr& layer : layers_) add_sublayer(snake_case(layer->class_name()), layer);
  share_seed(layers_, seed_);
}

ColorChange RandAugmentLayer::change(const Call& c, Value images, const Variable& seed) const {
  const auto in_dtype = [dtype = compute_dtype()](Value x) { return ops::cast(x, dtype); };
  if (!c.training() || cfg.num_ops == 0) return {.images = in_dtype};
  const auto count = static_cast<int64_t>(layers_.size());
  const Value chosen = image::Draws(c, seed).whole({cfg.num_ops}, 0, count);
  const auto changes = changes_by(layers_, c, images, seed, cfg.data_format);
  const auto each = [=, times = cfg.num_ops](std::function<Value(Value)> ColorChange::*what) {
    return [=](Value x) {
      for (int64_t i = 0; i < times; ++i) x = changed_by(element(chosen, i), changes, what, x);
      return x;
    };
  };
  const auto boxes = [=](const Results& given) {
    Results::Dict out = given.dict();
    for (size_t k = 0; k < changes.size(); ++k) {
      if (!changes[k].bounding_boxes) continue;
      const Value same = ops::equal(chosen, whole_number(chosen, static_cast<int64_t>(k)));
      const Value any = ops::max(ops::cast(same, DType::i32), {0}) > 0;
      const Results changed = changes[k].bounding_boxes(out);
      for (const auto& [key, value] : changed.dict())
        out.insert_or_assign(key, ops::where(any, value.leaf(), out.at(key).leaf()));
    }
    return Results(std::move(out));
  };
  return {.images = [=](Value x) { return each(&ColorChange::images)(in_dtype(x)); },
          .segmentation_masks = each(&ColorChange::segmentation_masks),
          .bounding_boxes = boxes};
}

AugMixLayer::AugMixLayer(AugMixConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  check_count("AugMix", "num_chains", cfg.num_chains);
  check_count("AugMix", "chain_depth", cfg.chain_depth);
  check_count("AugMix", "num_chains · chain_depth", cfg.num_chains * cfg.chain_depth);
  require(cfg.alpha > 0, "AugMix: alpha must be positive, got ", cfg.alpha);
  cfg.factor = detail::image_factor(cfg.factor, 0, 1);
  layers_ = make_layers(cfg, this->options(), cfg.all_ops);
  for (const LayerPtr& layer : layers_) add_sublayer(snake_case(layer->class_name()), layer);
  share_seed(layers_, seed_);
}

ColorChange AugMixLayer::change(const Call& c, Value images, const Variable& seed) const {
  const auto in_dtype = [dtype = compute_dtype()](Value x) { return ops::cast(x, dtype); };
  if (!c.training()) return {.images = in_dtype};
  const image::Draws draws(c, seed);
  const Value alpha = ops::constant(c.block(), Tensor::scalar(DType::f32, cfg.alpha));
  const Value kept = in_dtype(element(draws.beta(1, alpha), 0));
  Values weights;  // of the chains
  if (cfg.num_chains > 0) {
    const Value all = in_dtype(ops::softmax(draws.log_gamma(cfg.num_chains, alpha)));
    for (int64_t i = 0; i < cfg.num_chains; ++i) weights.push_back(element(all, i));
  }
  struct Step {
    Value chosen;
    std::vector<ColorChange> changes;
  };
  std::vector<Step> steps;
  const auto choices = static_cast<int64_t>(layers_.size()) + 1;  // the last one is none
  for (int64_t i = 0; i < cfg.num_chains * cfg.chain_depth; ++i)
    steps.push_back({element(draws.whole({1}, 0, choices), 0),
                     changes_by(layers_, c, images, seed, cfg.data_format)});
  const auto mixed = [=, depth = static_cast<size_t>(cfg.chain_depth)](
                         std::function<Value(Value)> ColorChange::*what, Value x) {
    x = ops::promote({x, kept})[0];
    Value sum = ops::fill_like(x, 0, x.dtype());
    for (size_t chain = 0; chain < weights.size(); ++chain) {
      Value copy = x;
      for (size_t i = chain * depth; i < (chain + 1) * depth; ++i)
        copy = changed_by(steps[i].chosen, steps[i].changes, what, copy);
      sum = sum + copy * ops::cast(weights[chain], x.dtype());
    }
    const Value share = ops::cast(kept, x.dtype());
    return share * x + (1.0 - share) * sum;
  };
  return {
      .images =
          [=, range = cfg.value_range](Value x) {
            return image::clip(mixed(&ColorChange::images, in_dtype(x)), range);
          },
      .segmentation_masks = [=](Value x) { return mixed(&ColorChange::segmentation_masks, x); }};
}

}  // namespace keratin

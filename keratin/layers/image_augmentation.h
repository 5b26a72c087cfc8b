#pragma once

#include "keratin/layers/image_color.h"

// Layers that change images by other layers, chosen at random.
namespace keratin {

// What the two layers below are made of: RandomShear, RandomTranslation, RandomRotation,
// RandomPosterization, Solarization, AutoContrast, Equalization, RandomBrightness,
// RandomColorDegeneration, RandomContrast and RandomSharpness, all of one factor.
struct KERATIN_API RandAugmentConfig {
  Numbers value_range = {0, 255};
  int64_t num_ops = 2;   // how many changes, one after the other
  Numbers factor = 0.5;  // how strong they are, between 0 and 1; a single f stands for [0, f]
  std::string interpolation = "bilinear";  // or "nearest"
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandAugment";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      fields_of<ColorFields>(), field("value_range", &RandAugmentConfig::value_range),
      field("num_ops", &RandAugmentConfig::num_ops), field("factor", &RandAugmentConfig::factor),
      field("interpolation", &RandAugmentConfig::interpolation),
      field("seed", &RandAugmentConfig::seed));
};

// Changes a batch by some of these layers, chosen at random. One that is chosen twice changes it
// twice in the same way. As in Keras, boxes are changed in the order of the layers, once by each.
class KERATIN_API RandAugmentLayer final
    : public ColorLayerOf<RandAugmentLayer, RandAugmentConfig> {
 public:
  RandAugmentLayer(RandAugmentConfig config, LayerOptions options);
  ColorChange change(const Call& c, Value images, const Variable& seed) const override;

 private:
  std::vector<LayerPtr> layers_;
};

struct KERATIN_API AugMixConfig {
  Numbers value_range = {0, 255};
  int64_t num_chains = 3;
  int64_t chain_depth = 3;  // how many changes a chain has; each may be none
  Numbers factor = 0.3;     // as that of RandAugment
  double alpha = 1;
  bool all_ops = true;  // false: without the last four layers
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "AugMix";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      fields_of<ColorFields>(), field("value_range", &AugMixConfig::value_range),
      field("num_chains", &AugMixConfig::num_chains),
      field("chain_depth", &AugMixConfig::chain_depth), field("factor", &AugMixConfig::factor),
      field("alpha", &AugMixConfig::alpha), field("all_ops", &AugMixConfig::all_ops),
      field("interpolation", &AugMixConfig::interpolation), field("seed", &AugMixConfig::seed));
};

// w · x + (1 - w) · Σ wᵢ · chainᵢ(x), clipped to the value range: w is from the distribution
// beta(alpha, alpha), the weights of the chains from that of Dirichlet, and each chain is some of
// these layers, chosen at random, one after the other. As in Keras, boxes stay as they are.
class KERATIN_API AugMixLayer final : public ColorLayerOf<AugMixLayer, AugMixConfig> {
 public:
  AugMixLayer(AugMixConfig config, LayerOptions options);
  ColorChange change(const Call& c, Value images, const Variable& seed) const override;

 private:
  std::vector<LayerPtr> layers_;
};

using RandAugment = Shared<RandAugmentLayer>;
using AugMix = Shared<AugMixLayer>;

}  // namespace keratin

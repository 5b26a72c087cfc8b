#pragma once

#include <functional>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that change the colours of images, hide pieces of them or mix several. Most of them draw
// random numbers in training and leave images as they are in inference.
namespace keratin {

// The keys that all of these layers have.
template <class C>
struct ColorFields {
  static constexpr auto fields =
      field_list(field("data_format", &C::data_format),
                 field<Written::if_changed>("bounding_box_format", &C::bounding_box_format));
};

// What one call does to a batch of images, and to the batches of what comes with them. A function
// that is empty leaves them as they are.
struct KERATIN_API ColorChange {
  std::function<Value(Value)> images = {}, labels = {}, segmentation_masks = {};
  std::function<Results(Results)> bounding_boxes = {};
};

// A call takes images, [height, width, channels] or a batch of them, or a dict with the keys
// "images", "labels", "bounding_boxes" and "segmentation_masks", of which it returns another.
class KERATIN_API ColorLayer : public Layer, public TrainsByDefault {
 public:
  Results call(const Call& c) const override;
  // What a call does to this batch; its random numbers are drawn from a seed.
  virtual ColorChange change(const Call& c, Value images, const Variable& seed) const;

  // The same in two steps. The random numbers for a batch of images, under Keras's names; in
  // inference there are none.
  virtual Results draw(const Call& c, Value images, const Variable& seed) const;
  // What these numbers make of the batch, and of what comes with it.
  virtual Value transform_images(const Call& c, Value images, const Results& drawn) const;
  virtual Value transform_labels(const Call& c, Value labels, const Results& drawn) const;
  virtual Results transform_bounding_boxes(const Call& c, Results boxes,
                                           const Results& drawn) const;
  virtual Value transform_segmentation_masks(const Call& c, Value masks,
                                             const Results& drawn) const;

 protected:
  using Layer::Layer;
  void set_bounding_box_format(std::optional<std::string> format) {
    box_format_ = std::move(format);
  }
  // The error for an input of another rank.
  virtual std::string_view rank_error() const;
  Variable seed_;

 private:
  Results changed_boxes(const Tree<Traced>& boxes, bool batched, const ColorChange& by) const;
  std::optional<std::string> box_format_;
};

namespace detail {
KERATIN_API std::string image_data_format(std::string given);
// Both ends of what a factor stands for: f is [max(-f, lowest), f], two numbers are sorted.
KERATIN_API Numbers image_factor(const Numbers& given, double lowest, double highest,
                                 std::string_view name = "factor");
KERATIN_API Sizes image_factor(const Sizes& given, double lowest, double highest);
KERATIN_API Numbers image_value_range(Numbers given, bool sorted);
}  // namespace detail

// What the constructors of these layers share.
template <class Derived, class Config>
class KERATIN_API ColorLayerOf : public LayerOf<Derived, Config, ColorLayer> {
 protected:
  ColorLayerOf(Config config, LayerOptions options)
      : LayerOf<Derived, Config, ColorLayer>(std::move(config), std::move(options)) {
    this->cfg.data_format = detail::image_data_format(this->cfg.data_format);
    this->set_bounding_box_format(this->cfg.bounding_box_format);
    if constexpr (requires { this->cfg.seed; }) this->seed_ = this->add_seed(this->cfg.seed);
    this->set_built();
  }
};

// What the layers below compute with.
struct KERATIN_API ColorSettings {
  const Call& call;
  DType dtype;  // in which the layer computes
  Numbers factor;
  const Numbers& value_range;
  const std::string& data_format;
};

// Layers that change each image by one random number: name, limits of the factor and arithmetic.
struct KERATIN_API BrightnessRule {
  static constexpr std::string_view keras_name = "RandomBrightness";
  using Factor = Numbers;
  static constexpr double lowest = -1, highest = 1, factor = 0;
  static constexpr bool sorts_range = true, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // x + the number · (high - low) of the value range, clipped to it
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};
struct KERATIN_API ColorDegenerationRule {
  static constexpr std::string_view keras_name = "RandomColorDegeneration";
  using Factor = Numbers;
  static constexpr double lowest = -1, highest = 1, factor = 0;
  static constexpr bool sorts_range = true, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);  // to grey
};
struct KERATIN_API ContrastRule {
  static constexpr std::string_view keras_name = "RandomContrast";
  using Factor = Numbers;
  static constexpr double lowest = 0, highest = 1, factor = 0;
  static constexpr bool sorts_range = false, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // (x - mean) · f + mean, f between 1 - the lower and 1 + the upper end of the factor
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};
struct KERATIN_API HueRule {
  static constexpr std::string_view keras_name = "RandomHue";
  using Factor = Numbers;
  static constexpr double lowest = 0, highest = 1, factor = 0;
  static constexpr bool sorts_range = false, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // turns the hue by half the number, in either direction
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};
struct KERATIN_API InvertRule {
  static constexpr std::string_view keras_name = "RandomInvert";
  using Factor = Numbers;
  static constexpr double lowest = 0, highest = 1, factor = 1;
  static constexpr bool sorts_range = false, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // the upper end of the value range minus x, with the number as probability
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};
struct KERATIN_API PosterizationRule {
  static constexpr std::string_view keras_name = "RandomPosterization";
  using Factor = Sizes;
  static constexpr int64_t lowest = 1, highest = 8, factor = 8;
  static constexpr bool sorts_range = true, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // the upper bits of each of 256 levels, as many as the number, which is below the upper end
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};
struct KERATIN_API SaturationRule {
  static constexpr std::string_view keras_name = "RandomSaturation";
  using Factor = Numbers;
  static constexpr double lowest = -1, highest = 1, factor = 0;
  static constexpr bool sorts_range = true, always_casts = false;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // the saturation times f / (1 - f)
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};
struct KERATIN_API SharpnessRule {
  static constexpr std::string_view keras_name = "RandomSharpness";
  using Factor = Numbers;
  static constexpr double lowest = 0, highest = 1, factor = 0;
  static constexpr bool sorts_range = true, always_casts = true;
  static Results draw(const ColorSettings& s, Value images, const Variable& seed);
  // x + (1 - 2f) · (blurred - x): blurred at 0, x at ½
  static Value transform(const ColorSettings& s, Value images, const Results& drawn);
};

// The number lies between the two of `factor`; a single f stands for [-f, f], or [lowest, f] where
// -f is lower.
template <class Rule>
struct KERATIN_API RandomColorConfig {
  typename Rule::Factor factor = Rule::factor;
  Numbers value_range = {0, 255};  // of the pixels
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = Rule::keras_name;
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("factor", &RandomColorConfig::factor),
                 field("value_range", &RandomColorConfig::value_range),
                 field("seed", &RandomColorConfig::seed));
};

template <class Rule>
class KERATIN_API RandomColorLayer final
    : public ColorLayerOf<RandomColorLayer<Rule>, RandomColorConfig<Rule>> {
 public:
  RandomColorLayer(RandomColorConfig<Rule> config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;

 private:
  std::string_view rank_error() const override;
  ColorSettings settings(const Call& c) const;
};

extern template class RandomColorLayer<BrightnessRule>;
extern template class RandomColorLayer<ColorDegenerationRule>;
extern template class RandomColorLayer<ContrastRule>;
extern template class RandomColorLayer<HueRule>;
extern template class RandomColorLayer<InvertRule>;
extern template class RandomColorLayer<PosterizationRule>;
extern template class RandomColorLayer<SaturationRule>;
extern template class RandomColorLayer<SharpnessRule>;

using RandomBrightness = Shared<RandomColorLayer<BrightnessRule>>;
using RandomColorDegeneration = Shared<RandomColorLayer<ColorDegenerationRule>>;
using RandomContrast = Shared<RandomColorLayer<ContrastRule>>;
using RandomHue = Shared<RandomColorLayer<HueRule>>;
using RandomInvert = Shared<RandomColorLayer<InvertRule>>;
using RandomPosterization = Shared<RandomColorLayer<PosterizationRule>>;
using RandomSaturation = Shared<RandomColorLayer<SaturationRule>>;
using RandomSharpness = Shared<RandomColorLayer<SharpnessRule>>;

struct KERATIN_API AutoContrastConfig {
  Numbers value_range = {0, 255};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "AutoContrast";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("value_range", &AutoContrastConfig::value_range));
};

// Stretches each channel of each image to the whole value range, in inference too. As in Keras, the
// channels are those of channels_last, whatever the data format.
class KERATIN_API AutoContrastLayer final
    : public ColorLayerOf<AutoContrastLayer, AutoContrastConfig> {
 public:
  AutoContrastLayer(AutoContrastConfig config, LayerOptions options);
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
};

struct KERATIN_API EqualizationConfig {
  Numbers value_range = {0, 255};
  int64_t bins = 256;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "Equalization";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("bins", &EqualizationConfig::bins),
                 field("value_range", &EqualizationConfig::value_range));
};

// Spreads the values of each channel so that all levels are equally frequent in the batch; in
// training alone.
class KERATIN_API EqualizationLayer final
    : public ColorLayerOf<EqualizationLayer, EqualizationConfig> {
 public:
  EqualizationLayer(EqualizationConfig config, LayerOptions options);
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
};

struct KERATIN_API ContrastLimitedAdaptiveHistogramEqualizationConfig {
  Numbers value_range = {0, 255};
  double clip_limit = 4;          // times the mean of a histogram; 0: no limit
  Sizes tile_grid_size = {8, 8};  // how many tiles, down and across
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "ContrastLimitedAdaptiveHistogramEqualization";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      fields_of<ColorFields>(),
      field("value_range", &ContrastLimitedAdaptiveHistogramEqualizationConfig::value_range),
      field("clip_limit", &ContrastLimitedAdaptiveHistogramEqualizationConfig::clip_limit),
      field("tile_grid_size", &ContrastLimitedAdaptiveHistogramEqualizationConfig::tile_grid_size));
};

// Equalizes each tile of each channel by its histogram of 256 levels, whose peaks are cut off at
// the limit, and interpolates between neighbouring tiles; in inference too.
class KERATIN_API ContrastLimitedAdaptiveHistogramEqualizationLayer final
    : public ColorLayerOf<ContrastLimitedAdaptiveHistogramEqualizationLayer,
                          ContrastLimitedAdaptiveHistogramEqualizationConfig> {
 public:
  ContrastLimitedAdaptiveHistogramEqualizationLayer(
      ContrastLimitedAdaptiveHistogramEqualizationConfig config, LayerOptions options);
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
};

struct KERATIN_API SolarizationConfig {
  Numbers addition_factor = 0;   // between 0 and 1; a single f stands for [0, f]
  Numbers threshold_factor = 0;  // likewise
  Numbers value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "Solarization";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("value_range", &SolarizationConfig::value_range),
                 field("addition_factor", &SolarizationConfig::addition_factor),
                 field("threshold_factor", &SolarizationConfig::threshold_factor),
                 field("seed", &SolarizationConfig::seed));
};

// Adds a random number, then inverts what is not below a random threshold.
class KERATIN_API SolarizationLayer final
    : public ColorLayerOf<SolarizationLayer, SolarizationConfig> {
 public:
  SolarizationLayer(SolarizationConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
};

struct KERATIN_API RandomGrayscaleConfig {
  double factor = 0.5;
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomGrayscale";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("factor", &RandomGrayscaleConfig::factor),
                 field<Written::never>("seed", &RandomGrayscaleConfig::seed));
};

// Takes the colours from an image with probability `factor`.
class KERATIN_API RandomGrayscaleLayer final
    : public ColorLayerOf<RandomGrayscaleLayer, RandomGrayscaleConfig> {
 public:
  RandomGrayscaleLayer(RandomGrayscaleConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
};

struct KERATIN_API RandomGaussianBlurConfig {
  Numbers factor = 1;     // the probability, or what it lies between; a single f stands for [0, f]
  Sizes kernel_size = 3;  // odd
  Numbers sigma = 1;      // between 0 and 1, likewise
  Numbers value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomGaussianBlur";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("factor", &RandomGaussianBlurConfig::factor),
                 field("kernel_size", &RandomGaussianBlurConfig::kernel_size),
                 field("sigma", &RandomGaussianBlurConfig::sigma),
                 field("value_range", &RandomGaussianBlurConfig::value_range),
                 field("seed", &RandomGaussianBlurConfig::seed));
};

// Blurs some of the images, all by the same kernel.
class KERATIN_API RandomGaussianBlurLayer final
    : public ColorLayerOf<RandomGaussianBlurLayer, RandomGaussianBlurConfig> {
 public:
  RandomGaussianBlurLayer(RandomGaussianBlurConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;

 private:
  std::string_view rank_error() const override;
};

struct KERATIN_API RandomErasingConfig {
  Numbers factor = 1;            // the probability, or what it lies between
  Numbers scale = {0.02, 0.33};  // the square of the share of each side; a single s: [0, s]
  std::optional<Numbers> fill_value = {};  // one, or one per channel; default: normal noise
  Numbers value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomErasing";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("factor", &RandomErasingConfig::factor),
                 field("scale", &RandomErasingConfig::scale),
                 field("fill_value", &RandomErasingConfig::fill_value),
                 field("value_range", &RandomErasingConfig::value_range),
                 field("seed", &RandomErasingConfig::seed));
};

// Fills a random box of an image.
class KERATIN_API RandomErasingLayer final
    : public ColorLayerOf<RandomErasingLayer, RandomErasingConfig> {
 public:
  RandomErasingLayer(RandomErasingConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;

 private:
  std::string_view rank_error() const override;
  Value fill(const Call& c, Value images, const Variable& seed) const;
};

struct KERATIN_API CutMixConfig {
  Numbers factor = 1;  // between 0 and 1; a single f stands for [0, f]
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "CutMix";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("factor", &CutMixConfig::factor),
                 field("seed", &CutMixConfig::seed));
};

// Pastes a random box of another image of the batch into each image, and mixes the labels in
// proportion to the areas. An image alone stays as it is.
class KERATIN_API CutMixLayer final : public ColorLayerOf<CutMixLayer, CutMixConfig> {
 public:
  CutMixLayer(CutMixConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
  Value transform_labels(const Call& c, Value labels, const Results& drawn) const override;
  // Not done by Keras: an error.
  Results transform_bounding_boxes(const Call& c, Results boxes,
                                   const Results& drawn) const override;
  Value transform_segmentation_masks(const Call& c, Value masks,
                                     const Results& drawn) const override;
};

struct KERATIN_API MixUpConfig {
  double alpha = 0.2;
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "MixUp";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(fields_of<ColorFields>(), field("alpha", &MixUpConfig::alpha),
                 field("seed", &MixUpConfig::seed));
};

// w · x + (1 - w) · another image of the batch, w from the distribution beta(alpha, alpha), and the
// same of the labels.
class KERATIN_API MixUpLayer final : public ColorLayerOf<MixUpLayer, MixUpConfig> {
 public:
  MixUpLayer(MixUpConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;
  Value transform_labels(const Call& c, Value labels, const Results& drawn) const override;
  // The boxes of both images. As in Keras, labels are joined along the batch.
  Results transform_bounding_boxes(const Call& c, Results boxes,
                                   const Results& drawn) const override;
  // As in Keras, mixed with single elements of the masks, not with whole masks.
  Value transform_segmentation_masks(const Call& c, Value masks,
                                     const Results& drawn) const override;
};

struct KERATIN_API RandomColorJitterConfig {
  Numbers value_range = {0, 255};
  std::optional<Numbers> brightness_factor = {};  // of RandomBrightness; default: none
  std::optional<Numbers> contrast_factor = {};
  std::optional<Numbers> saturation_factor = {};
  std::optional<Numbers> hue_factor = {};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomColorJitter";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      fields_of<ColorFields>(), field("value_range", &RandomColorJitterConfig::value_range),
      field("brightness_factor", &RandomColorJitterConfig::brightness_factor),
      field("contrast_factor", &RandomColorJitterConfig::contrast_factor),
      field("saturation_factor", &RandomColorJitterConfig::saturation_factor),
      field("hue_factor", &RandomColorJitterConfig::hue_factor),
      field("seed", &RandomColorJitterConfig::seed));
};

// RandomBrightness, RandomContrast, RandomSaturation and RandomHue in turn, those that have a
// factor. As in Keras, these take images to be channels_last.
class KERATIN_API RandomColorJitterLayer final
    : public ColorLayerOf<RandomColorJitterLayer, RandomColorJitterConfig> {
 public:
  RandomColorJitterLayer(RandomColorJitterConfig config, LayerOptions options);
  Results draw(const Call& c, Value images, const Variable& seed) const override;
  Value transform_images(const Call& c, Value images, const Results& drawn) const override;

 private:
  template <class L>
  void add_jitter(const std::optional<Numbers>& factor);
  std::vector<std::shared_ptr<ColorLayer>> layers_;
};

using AutoContrast = Shared<AutoContrastLayer>;
using Equalization = Shared<EqualizationLayer>;
using ContrastLimitedAdaptiveHistogramEqualization =
    Shared<ContrastLimitedAdaptiveHistogramEqualizationLayer>;
using Solarization = Shared<SolarizationLayer>;
using RandomGrayscale = Shared<RandomGrayscaleLayer>;
using RandomGaussianBlur = Shared<RandomGaussianBlurLayer>;
using RandomErasing = Shared<RandomErasingLayer>;
using CutMix = Shared<CutMixLayer>;
using MixUp = Shared<MixUpLayer>;
using RandomColorJitter = Shared<RandomColorJitterLayer>;

}  // namespace keratin

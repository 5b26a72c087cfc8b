#pragma once

#include <functional>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that resize, crop, move and distort images. Images are [batch, height, width, channels],
// or one image without the batch, or channels_first. A dict may hold "images" with "labels",
// "segmentation_masks" and "bounding_boxes", which are changed likewise. The random layers return
// their input in inference; in training each has a stream of random numbers, see dropout.h.
namespace keratin {

// Keys that the configs of all layers of images have.
template <class C>
struct ImageFields {
  static constexpr auto fields =
      field_list(field("data_format", &C::data_format),
                 field<Written::if_changed>("bounding_box_format", &C::bounding_box_format));
};
// How pixels outside of an image are filled.
template <class C>
struct FillFields {
  static constexpr auto fields = field_list(
      field("fill_mode", &C::fill_mode), field("interpolation", &C::interpolation),
      field("seed", &C::seed), field("fill_value", &C::fill_value), fields_of<ImageFields>());
};

// What one call does to all that it is given: functions of batches [batch, height, width, channels]
// of images and of segmentation masks, of labels, and of bounding boxes f32 [batch, boxes, 4] with
// their labels [batch, boxes]. One that is empty leaves them as they are.
struct KERATIN_API ImageChange {
  std::function<Value(Value)> images = {};
  std::function<Value(Value)> masks = {};
  std::function<Value(Value)> labels = {};
  std::function<Values(Value boxes, Value labels)> boxes = {};
};

// A layer of images or of a dict of images and what belongs to them.
class KERATIN_API ImageLayer : public Layer, public TrainsByDefault {
 public:
  Results call(const Call& c) const override;

  // What to do to a batch of images of this shape, some of whose sizes may be unknown.
  virtual ImageChange change(const Call& c, const Shape& batch) const = 0;
  // For a layer that consists of others: its layers draw their numbers from its seed.
  void draw_from(const Variable& seed) { drawn_from_ = seed; }

 protected:
  ImageLayer(std::string_view class_name, LayerOptions options)
      : Layer(class_name, std::move(options)) {}

  // Takes what all configs have, and makes the seed of a random layer.
  template <class C>
  void start(C& config) {
    config.data_format = data_format_ = checked_data_format(config.data_format);
    box_format_ = config.bounding_box_format;
    if constexpr (requires { config.seed; }) drawn_from_ = add_seed(config.seed);
    set_built();
  }
  // Random numbers in [low, high), and low if these are equal.
  Value uniform(const Call& c, const Shape& shape, double low = 0, double high = 1) const;
  // A value in the dtype in which the layer computes.
  Value computed(Value x) const;
  // The format of bounding boxes; a call that has boxes needs one.
  std::string box_format() const { return box_format_.value_or("xyxy"); }

  std::optional<Variable> drawn_from_;  // the seed of a random layer

 private:
  static std::string checked_data_format(const std::string& data_format);
  Results changed_boxes(const ImageChange& by, const Tree<Traced>& boxes, bool batched) const;

  std::string data_format_;
  std::optional<std::string> box_format_;
};

struct KERATIN_API ResizingConfig {
  int64_t height = 0, width = 0;
  std::string interpolation = "bilinear";  // nearest, bicubic, lanczos3, lanczos5, area
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;
  std::string fill_mode = "constant";
  double fill_value = 0;
  bool antialias = false;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "Resizing";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("height", &ResizingConfig::height), field("width", &ResizingConfig::width),
                 field("interpolation", &ResizingConfig::interpolation),
                 field("crop_to_aspect_ratio", &ResizingConfig::crop_to_aspect_ratio),
                 field("pad_to_aspect_ratio", &ResizingConfig::pad_to_aspect_ratio),
                 field("fill_mode", &ResizingConfig::fill_mode),
                 field("fill_value", &ResizingConfig::fill_value),
                 field("antialias", &ResizingConfig::antialias), fields_of<ImageFields>());
};

// Images of a fixed size, always. Integers stay integers.
class KERATIN_API ResizingLayer final : public LayerOf<ResizingLayer, ResizingConfig, ImageLayer> {
 public:
  ResizingLayer(ResizingConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API CenterCropConfig {
  int64_t height = 0, width = 0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "CenterCrop";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("height", &CenterCropConfig::height),
                 field("width", &CenterCropConfig::width), fields_of<ImageFields>());
};

// The middle of the images, always. Where they are smaller, the largest part with the aspect ratio
// of the result is resized.
class KERATIN_API CenterCropLayer final
    : public LayerOf<CenterCropLayer, CenterCropConfig, ImageLayer> {
 public:
  CenterCropLayer(CenterCropConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomCropConfig {
  int64_t height = 0, width = 0;
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomCrop";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      field("height", &RandomCropConfig::height), field("width", &RandomCropConfig::width),
      field("seed", &RandomCropConfig::seed), fields_of<ImageFields>());
};

// The same random window of all images of a batch; of images that are not larger in both
// directions the middle, resized where it is smaller.
class KERATIN_API RandomCropLayer final
    : public LayerOf<RandomCropLayer, RandomCropConfig, ImageLayer> {
 public:
  RandomCropLayer(RandomCropConfig config, LayerOptions options);
  bool autocasts() const override { return false; }

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomFlipConfig {
  std::string mode = "horizontal_and_vertical";  // or "horizontal", "vertical"
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomFlip";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("mode", &RandomFlipConfig::mode), field("seed", &RandomFlipConfig::seed),
                 fields_of<ImageFields>());
};

// Flips each image with probability ½: in both directions or not at all, as in Keras 3.
class KERATIN_API RandomFlipLayer final
    : public LayerOf<RandomFlipLayer, RandomFlipConfig, ImageLayer> {
 public:
  RandomFlipLayer(RandomFlipConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

// A factor is a range, or a number x for the range from -x to x.
struct KERATIN_API RandomTranslationConfig {
  Numbers height_factor = 0.0;  // a fraction of the height, in [-1, 1]; positive is down
  Numbers width_factor = 0.0;
  std::string fill_mode = "reflect";       // or "constant", "nearest", "wrap"
  std::string interpolation = "bilinear";  // or "nearest"
  std::optional<int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomTranslation";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      field("height_factor", &RandomTranslationConfig::height_factor),
      field("width_factor", &RandomTranslationConfig::width_factor), fields_of<FillFields>());
};

// Moves each image.
class KERATIN_API RandomTranslationLayer final
    : public LayerOf<RandomTranslationLayer, RandomTranslationConfig, ImageLayer> {
 public:
  RandomTranslationLayer(RandomTranslationConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomRotationConfig {
  Numbers factor = 0.0;  // of a full turn, in [-1, 1]; positive is counter-clockwise
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomRotation";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("factor", &RandomRotationConfig::factor), fields_of<FillFields>());
};

// Turns each image around its centre.
class KERATIN_API RandomRotationLayer final
    : public LayerOf<RandomRotationLayer, RandomRotationConfig, ImageLayer> {
 public:
  RandomRotationLayer(RandomRotationConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomZoomConfig {
  Numbers height_factor = 0.0;               // in (-1, 1]; positive makes things smaller
  std::optional<Numbers> width_factor = {};  // default: the height's, with the same numbers
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomZoom";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("height_factor", &RandomZoomConfig::height_factor),
                 field("width_factor", &RandomZoomConfig::width_factor), fields_of<FillFields>());
};

// Zooms into each image, or out of it.
class KERATIN_API RandomZoomLayer final
    : public LayerOf<RandomZoomLayer, RandomZoomConfig, ImageLayer> {
 public:
  RandomZoomLayer(RandomZoomConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomShearConfig {
  Numbers x_factor = 0.0;  // in [0, 1]; the sign is random, the same for both
  Numbers y_factor = 0.0;
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomShear";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("x_factor", &RandomShearConfig::x_factor),
                 field("y_factor", &RandomShearConfig::y_factor), fields_of<FillFields>());
};

// Moves the rows of each image by their number times a factor, and the columns likewise.
class KERATIN_API RandomShearLayer final
    : public LayerOf<RandomShearLayer, RandomShearConfig, ImageLayer> {
 public:
  RandomShearLayer(RandomShearConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomPerspectiveConfig {
  Numbers factor = 1.0;  // the probability of a change, in [0, 1], or its range
  double scale = 1;      // how far corners move, in [0, 1]
  std::string interpolation = "bilinear";
  double fill_value = 0;
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomPerspective";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("factor", &RandomPerspectiveConfig::factor),
                 field("scale", &RandomPerspectiveConfig::scale),
                 field("interpolation", &RandomPerspectiveConfig::interpolation),
                 field("fill_value", &RandomPerspectiveConfig::fill_value),
                 field("seed", &RandomPerspectiveConfig::seed), fields_of<ImageFields>());
};

// Moves the corners of an image.
class KERATIN_API RandomPerspectiveLayer final
    : public LayerOf<RandomPerspectiveLayer, RandomPerspectiveConfig, ImageLayer> {
 public:
  RandomPerspectiveLayer(RandomPerspectiveConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API RandomElasticTransformConfig {
  Numbers factor = 1.0;  // the probability of a change, in [0, 1], or its range
  Numbers scale = 1.0;   // how strong it is, in [0, 1], or its range
  std::string interpolation = "bilinear";
  std::string fill_mode = "reflect";  // or "constant", "nearest", "wrap", "mirror"
  double fill_value = 0;
  Numbers value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "RandomElasticTransform";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields = field_list(
      field("factor", &RandomElasticTransformConfig::factor),
      field("scale", &RandomElasticTransformConfig::scale),
      field("value_range", &RandomElasticTransformConfig::value_range), fields_of<FillFields>());
};

// Distorts an image smoothly.
class KERATIN_API RandomElasticTransformLayer final
    : public LayerOf<RandomElasticTransformLayer, RandomElasticTransformConfig, ImageLayer> {
 public:
  RandomElasticTransformLayer(RandomElasticTransformConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

struct KERATIN_API MaxNumBoundingBoxesConfig {
  int64_t max_number = 0;
  int64_t fill_value = -1;  // Keras does not save it
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};

  static constexpr std::string_view keras_name = "MaxNumBoundingBoxes";
  static constexpr auto call_arguments = arguments_of_call("data", "training");
  static constexpr auto fields =
      field_list(field("max_number", &MaxNumBoundingBoxesConfig::max_number),
                 field<Written::never>("fill_value", &MaxNumBoundingBoxesConfig::fill_value),
                 fields_of<ImageFields>());
};

// As many bounding boxes for each image as max_number says: the first ones, then boxes and labels
// of fill_value. Images stay as they are.
class KERATIN_API MaxNumBoundingBoxesLayer final
    : public LayerOf<MaxNumBoundingBoxesLayer, MaxNumBoundingBoxesConfig, ImageLayer> {
 public:
  MaxNumBoundingBoxesLayer(MaxNumBoundingBoxesConfig config, LayerOptions options);

 protected:
  ImageChange change(const Call& c, const Shape& batch) const override;
};

enum class ImageAxis : uint8_t { height, width };

template <ImageAxis axis>
struct KERATIN_API RandomSizeConfig {
  Numbers factor = 0.0;
  std::string interpolation = "bilinear";  // what Resizing has, "gaussian" or "mitchellcubic"
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name =
      axis == ImageAxis::height ? "RandomHeight" : "RandomWidth";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields =
      field_list(field("factor", &RandomSizeConfig::factor),
                 field("interpolation", &RandomSizeConfig::interpolation),
                 field("seed", &RandomSizeConfig::seed));
};

// RandomHeight and RandomWidth of Keras 2, for its files: Keras 3 has no such class, and does not
// open a file that names one. Inference returns the input. A program has fixed sizes, so training
// takes a factor with equal ends alone.
template <ImageAxis axis>
class KERATIN_API RandomSizeLayer final
    : public LayerOf<RandomSizeLayer<axis>, RandomSizeConfig<axis>> {
 public:
  RandomSizeLayer(RandomSizeConfig<axis> config, LayerOptions options);
  Results call(const Call& c) const override;
};

extern template class RandomSizeLayer<ImageAxis::height>;
extern template class RandomSizeLayer<ImageAxis::width>;

using Resizing = Shared<ResizingLayer>;
using CenterCrop = Shared<CenterCropLayer>;
using RandomCrop = Shared<RandomCropLayer>;
using RandomFlip = Shared<RandomFlipLayer>;
using RandomTranslation = Shared<RandomTranslationLayer>;
using RandomRotation = Shared<RandomRotationLayer>;
using RandomZoom = Shared<RandomZoomLayer>;
using RandomShear = Shared<RandomShearLayer>;
using RandomPerspective = Shared<RandomPerspectiveLayer>;
using RandomElasticTransform = Shared<RandomElasticTransformLayer>;
using MaxNumBoundingBoxes = Shared<MaxNumBoundingBoxesLayer>;
using RandomHeight = Shared<RandomSizeLayer<ImageAxis::height>>;
using RandomWidth = Shared<RandomSizeLayer<ImageAxis::width>>;

}  // namespace keratin

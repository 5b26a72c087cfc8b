#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/image.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

using image::aligned;
using image::drawn_value;
using image::on_images;
using image::per_image;

image::Draws draws_of(const ColorSettings& s, const Variable& seed) { return {s.call, seed}; }

Results one_number(std::string name, Value number) {
  return Results::Dict{{std::move(name), number}};
}

// Changes one of the channels of hsv images; `change` gets it as one channel.
template <class Change>
Value with_channel(Value hsv, int64_t which, const std::string& data_format, const Change& change) {
  const int64_t axis = image::axes_of(data_format).channels;
  Values channels = ops::split(hsv, 3, axis);
  Value& channel = channels[static_cast<size_t>(which)];
  channel = change(channel);
  return ops::concatenate(ops::promote(std::move(channels)), axis);
}

// 5/13 of the pixel and 1/13 of each of its neighbours, for each channel.
Value blur_kernel(Block& block, int64_t channels, DType dtype) {
  std::vector<double> weights;
  for (int64_t position = 0; position < 9; ++position)
    weights.insert(weights.end(), static_cast<size_t>(channels), (position == 4 ? 5.0 : 1.0) / 13);
  return ops::constant(block, Tensor::of(dtype, {3, 3, channels, 1}, weights));
}

}  // namespace

Results BrightnessRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  const Value share = draws_of(s, seed).uniform(on_images(images), s.factor);
  return one_number("rgb_delta", share * (image::high(s.value_range) - image::low(s.value_range)));
}

Value BrightnessRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  const Value delta = ops::cast(drawn_value(drawn, "rgb_delta"), images.dtype());
  return image::clip(images + delta, s.value_range);
}

Results ColorDegenerationRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  return one_number("factor", draws_of(s, seed).uniform(on_images(images), s.factor));
}

Value ColorDegenerationRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  images = ops::cast(images, s.dtype);
  const Value factor = ops::cast(drawn_value(drawn, "factor"), s.dtype);
  const Value grey = ops::rgb_to_grayscale(images, s.data_format);
  return image::clip(images + factor * (grey - images), s.value_range);
}

Results ContrastRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  const double low = 1 - image::low(s.factor), high = 1 + image::high(s.factor);
  return one_number("contrast_factor",
                    draws_of(s, seed).uniform(on_images(images), low, high, s.dtype));
}

Value ContrastRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  const Values same = ops::promote({images, drawn_value(drawn, "contrast_factor")});
  const auto [height, width, channels] = image::axes_of(s.data_format);
  const Value mean = ops::mean(ops::mean(same[0], {height}, true), {width}, true);
  return image::clip((same[0] - mean) * same[1] + mean, s.value_range);
}

Results HueRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  const image::Draws draws = draws_of(s, seed);
  const Value back = draws.uniform(per_image(images), 0, 1) > 0.5;
  const Value size = draws.uniform(per_image(images), s.factor) * 0.5;
  return one_number("factor", ops::where(back, -size, size));
}

Value HueRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  static const Numbers shares = {0, 1};
  images = image::to_range(ops::cast(images, s.dtype), s.value_range, shares, DType::f32);
  const Value turn = aligned(ops::cast(drawn_value(drawn, "factor"), images.dtype()));
  const Value hsv = ops::rgb_to_hsv(images, s.data_format);
  const Value turned = with_channel(hsv, 0, s.data_format, [&](Value hue) {
    hue = hue + turn;
    hue = ops::where(hue > 1, hue - 1.0, hue);
    return ops::where(hue < 0, hue + 1.0, hue);
  });
  const Value rgb = ops::clip(ops::hsv_to_rgb(turned, s.data_format), 0, 1);
  return ops::cast(image::to_range(rgb, shares, s.value_range, DType::f32), s.dtype);
}

Results InvertRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  return one_number("apply_inversion", draws_of(s, seed).happens(images, s.factor));
}

Value InvertRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  images = ops::cast(images, s.dtype);
  return ops::where(aligned(drawn_value(drawn, "apply_inversion")),
                    image::high(s.value_range) - images, images);
}

Results PosterizationRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  const auto low = static_cast<int64_t>(image::low(s.factor));
  const auto high = std::max(low + 1, static_cast<int64_t>(image::high(s.factor)));
  const Value kept = draws_of(s, seed).whole(per_image(images), low, high);
  const Value all = ops::constant(s.call.block(), Tensor::of<int64_t>(DType::i32, {}, {highest}));
  return one_number("shift_factor", ops::cast(all - kept, DType::u8));
}

Value PosterizationRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  const Value shift = aligned(ops::cast(drawn_value(drawn, "shift_factor"), DType::u8));
  images = image::to_range(images, s.value_range, image::levels(), s.dtype);
  const Value bits = ops::bitwise_right_shift(ops::cast(images, DType::u8), shift);
  images = ops::cast(ops::bitwise_left_shift(bits, shift), s.dtype);
  return image::to_range(images, image::levels(), s.value_range, s.dtype);
}

Results SaturationRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  const Value share = draws_of(s, seed).uniform(per_image(images), s.factor);
  return one_number("factor", share / (1.0 - share + 1e-7));
}

Value SaturationRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  const Value factor = aligned(ops::cast(drawn_value(drawn, "factor"), s.dtype));
  const Value hsv = ops::rgb_to_hsv(images, s.data_format);
  const Value changed = with_channel(hsv, 1, s.data_format, [&](Value saturation) {
    const Values same = ops::promote({saturation, factor});
    return image::clip(same[0] * same[1], s.value_range);
  });
  return ops::hsv_to_rgb(changed, s.data_format);
}

Results SharpnessRule::draw(const ColorSettings& s, Value images, const Variable& seed) {
  return one_number("factor", draws_of(s, seed).uniform(per_image(images), s.factor));
}

Value SharpnessRule::transform(const ColorSettings& s, Value images, const Results& drawn) {
  images = ops::cast(images, s.dtype);
  const Value factor = aligned(ops::cast(drawn_value(drawn, "factor") * 2.0, s.dtype));
  const int64_t channels = images.shape()[image::axes_of(s.data_format).channels];
  require(channels != unknown, "RandomSharpness: the channels of the images must be known, got ",
          keras_shape(images.shape()));
  const Value blurred = ops::depthwise_conv(images, blur_kernel(s.call.block(), channels, s.dtype),
                                            {.padding = "same"}, s.data_format);
  return image::clip(images + (1.0 - factor) * (blurred - images), s.value_range);
}

template <class Rule>
RandomColorLayer<Rule>::RandomColorLayer(RandomColorConfig<Rule> config, LayerOptions options)
    : ColorLayerOf<RandomColorLayer, RandomColorConfig<Rule>>(std::move(config),
                                                              std::move(options)) {
  this->cfg.factor = detail::image_factor(this->cfg.factor, Rule::lowest, Rule::highest);
  this->cfg.value_range = detail::image_value_range(this->cfg.value_range, Rule::sorts_range);
}

template <class Rule>
std::string_view RandomColorLayer<Rule>::rank_error() const {
  return "Expected the input image to be rank 3 or 4. Received inputs.shape=";
}

template <class Rule>
ColorSettings RandomColorLayer<Rule>::settings(const Call& c) const {
  const auto& ends = this->cfg.factor;
  Numbers factor = [&]() -> Numbers {
    if constexpr (std::is_same_v<typename Rule::Factor, Numbers>)
      return ends;
    else
      return {static_cast<double>(ends.dims()[0]), static_cast<double>(ends.dims()[1])};
  }();
  return {c, this->compute_dtype(), std::move(factor), this->cfg.value_range,
          this->cfg.data_format};
}

template <class Rule>
Results RandomColorLayer<Rule>::draw(const Call& c, Value images, const Variable& seed) const {
  return Rule::draw(settings(c), images, seed);
}

template <class Rule>
Value RandomColorLayer<Rule>::transform_images(const Call& c, Value images,
                                               const Results& drawn) const {
  if (c.training()) return Rule::transform(settings(c), images, drawn);
  return Rule::always_casts ? ops::cast(images, this->compute_dtype()) : images;
}

template class RandomColorLayer<BrightnessRule>;
template class RandomColorLayer<ColorDegenerationRule>;
template class RandomColorLayer<ContrastRule>;
template class RandomColorLayer<HueRule>;
template class RandomColorLayer<InvertRule>;
template class RandomColorLayer<PosterizationRule>;
template class RandomColorLayer<SaturationRule>;
template class RandomColorLayer<SharpnessRule>;

}  // namespace keratin

#include "keratin/ops/image.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/image_sampling.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/window.h"

namespace keratin::ops {

namespace {

void require_images(std::string_view who, Value images) {
  require(images.rank() == 3 || images.rank() == 4, who,
          ": Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
          "Received input with shape: images.shape=",
          images.shape());
}

// Images as [batch, height, width, channels], and back.
Value to_batch(Value images, bool first) {
  if (images.rank() == 3) images = expand_dims(images, 0);
  return first ? transpose(images, {0, 2, 3, 1}) : images;
}
Value from_batch(Value images, int64_t rank, bool first) {
  if (first) images = transpose(images, {0, 3, 1, 2});
  return rank == 3 ? squeeze(images, 0) : images;
}

// part · of / by in f32, without the fraction, as Keras computes sizes.
int64_t scaled(int64_t part, int64_t of, int64_t by) {
  return static_cast<int64_t>(static_cast<float>(part * of) / static_cast<float>(by));
}

// The middle of the images that has the aspect ratio of the result.
Value crop_to_ratio(Value x, const Dims& size) {
  const int64_t height = x.shape()[1], width = x.shape()[2];
  const int64_t h = std::clamp<int64_t>(scaled(width, size[0], size[1]), 1, height);
  const int64_t w = std::clamp<int64_t>(scaled(height, size[1], size[0]), 1, width);
  const int64_t top = (height - h) / 2, left = (width - w) / 2;
  return slice(x, {0, top, left, 0}, {to_end, top + h, left + w, to_end});
}

Value pad_to_ratio(Value x, const Dims& size, double fill_value) {
  const int64_t height = x.shape()[1], width = x.shape()[2];
  const int64_t h = (std::max(height, scaled(width, size[0], size[1])) - height) / 2;
  const int64_t w = (std::max(width, scaled(height, size[1], size[0])) - width) / 2;
  if (h == 0 && w == 0) return x;
  return pad(x, {.lo = {0, h, w, 0}, .hi = {0, h, w, 0}, .interior = {}, .value = fill_value});
}

// Halves are computed in f32, as in Keras; integers are, too, and then rounded.
Value resize_any(Value x, const ResizeAttrs& attrs) {
  const DType dtype = x.dtype();
  if (attrs.method == "nearest" || dtype == DType::f32 || dtype == DType::f64)
    return resize(x, attrs);
  const Value y = resize(cast(x, DType::f32), attrs);
  return is_float(dtype) ? cast(y, dtype) : saturate_cast(round(y), dtype);
}

void check(const Dims& size, const ResizeOptions& options) {
  constexpr std::string_view known[] = {"bilinear", "nearest", "lanczos3",
                                        "lanczos5", "bicubic", "area"};
  require(std::find(std::begin(known), std::end(known), options.interpolation) != std::end(known),
          "resize: Invalid value for argument `interpolation`. Expected of one ('bilinear', "
          "'nearest', 'lanczos3', 'lanczos5', 'bicubic', 'area'). Received: interpolation=",
          options.interpolation);
  require(options.fill_mode == "constant",
          "resize: Invalid value for argument `fill_mode`. Only `'constant'` is supported. "
          "Received: fill_mode=",
          options.fill_mode);
  require(!options.crop_to_aspect_ratio || !options.pad_to_aspect_ratio,
          "resize: Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.");
  require(size.size() == 2 && size[0] > 0 && size[1] > 0,
          "resize: Argument `size` must be a tuple of two elements (height, width). Received: "
          "size=",
          Listed{size});
  constexpr int64_t max_size = 1 << 24;
  require(size[0] < max_size && size[1] < max_size, "resize: sizes must be less than ", max_size,
          ", got ", Listed{size});
}

}  // namespace

Value on_batch(std::string_view who, Value images, const std::string& data_format,
               const std::function<Value(Value)>& function) {
  require_images(who, images);
  const bool first = is_channels_first(who, data_format);
  return from_batch(function(to_batch(images, first)), images.rank(), first);
}

Value resize(Value images, const Dims& size, const ResizeOptions& options) {
  check(size, options);
  return on_batch("resize", images, options.data_format, [&](Value x) {
    // Sizes are unknown only while shapes are inferred, and these do not depend on them.
    const bool known = x.shape()[1] != unknown && x.shape()[2] != unknown;
    if (known && options.crop_to_aspect_ratio) x = crop_to_ratio(x, size);
    if (known && options.pad_to_aspect_ratio) x = pad_to_ratio(x, size, options.fill_value);
    return resize_any(x, {size, options.interpolation, options.antialias});
  });
}

Value rgb_to_grayscale(Value images, const std::string& data_format) {
  return on_batch("rgb_to_grayscale", images, data_format, [](Value x) {
    const int64_t channels = x.shape()[3];
    require(channels == 1 || channels == 3 || channels == unknown,
            "rgb_to_grayscale: Invalid channel size: expected 3 (RGB) or 1 (Grayscale). Received "
            "input with shape: ",
            x.shape());
    if (channels == 1) return x;
    const DType dtype = is_float(x.dtype()) ? x.dtype() : DType::f32;
    const auto channel = [&](int64_t i) { return cast(slice_axis(x, 3, i, i + 1), dtype); };
    return cast(channel(0) * 0.2989 + channel(1) * 0.587 + channel(2) * 0.114, x.dtype());
  });
}

namespace {

// Calls a function on the three channels of images of floats.
Value on_channels(std::string_view who, Value images, const std::string& data_format,
                  Values (*function)(Value, Value, Value)) {
  require(is_float(images.dtype()), who,
          ": Invalid images dtype: expected float dtype. Received: images.dtype=", images.dtype());
  return on_batch(who, images, data_format, [&](Value x) {
    require(x.shape()[3] == 3 || x.shape()[3] == unknown, who, ": expected 3 channels, got shape ",
            x.shape());
    const auto channel = [&](int64_t i) { return slice_axis(x, 3, i, i + 1); };
    return concatenate(function(channel(0), channel(1), channel(2)), 3);
  });
}

Values to_hsv(Value r, Value g, Value b) {
  const Value zero = scalar_like(r, 0), one = scalar_like(r, 1);
  const Value value = maximum(maximum(r, g), b);
  const Value range = value - minimum(minimum(r, g), b);
  const Value positive = value > 0.0, coloured = range > 0.0;
  const Value saturation = where(positive, range / where(positive, value, one), zero);
  const Value sixth = 1.0 / (6.0 * where(coloured, range, one));
  const Value hue =
      where(equal(r, value), sixth * (g - b),
            where(equal(g, value), sixth * (b - r) + 2.0 / 6, sixth * (r - g) + 4.0 / 6));
  const Value turned = where(hue < 0.0, hue + 1.0, hue);
  return {where(coloured, turned, zero), saturation, value};
}

Values to_rgb(Value hue, Value saturation, Value value) {
  const Value six = hue * 6.0;
  const Value r = clip(abs(six - 3.0) - 1.0, 0, 1);
  const Value g = clip(2.0 - abs(six - 2.0), 0, 1);
  const Value b = clip(2.0 - abs(six - 4.0), 0, 1);
  const auto mixed = [&](Value c) { return ((1.0 - saturation) + saturation * c) * value; };
  return {mixed(r), mixed(g), mixed(b)};
}

}  // namespace

Value rgb_to_hsv(Value images, const std::string& data_format) {
  return on_channels("rgb_to_hsv", images, data_format, to_hsv);
}

Value hsv_to_rgb(Value images, const std::string& data_format) {
  return on_channels("hsv_to_rgb", images, data_format, to_rgb);
}

}  // namespace keratin::ops

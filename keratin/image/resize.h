#pragma once

#include <string>

#include "keratin/tensor/tensor.h"

namespace keratin::image {

// How pixels between pixels are found: "nearest", "bilinear", "bicubic", "area", "lanczos3",
// "lanczos5", "gaussian" or "mitchellcubic".
void check_interpolation(const std::string& name);

// Images are [height, width, channels], u8 in and f32 out. Filters keep their size when an image
// shrinks, as tf.image.resize without antialiasing.
Tensor resize(const Tensor& image, int64_t height, int64_t width, const std::string& interpolation);

// The largest part around the middle with the aspect ratio of the target.
Tensor crop_to_ratio(const Tensor& image, int64_t height, int64_t width);
// Resized to fit into the target, with zeros around.
Tensor resize_with_pad(const Tensor& image, int64_t height, int64_t width,
                       const std::string& interpolation);

// [height, width, channels] as [channels, height, width].
Tensor channels_first(const Tensor& image);

}  // namespace keratin::image

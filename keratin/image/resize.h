#pragma once

#include <string>

#include "keratin/tensor/tensor.h"

namespace keratin::image {

// Throws UserError unless `name` is "nearest", "bilinear", "bicubic", "area", "lanczos3",
// "lanczos5", "gaussian" or "mitchellcubic".
void check_interpolation(const std::string& name);

// Resizes a u8 image [height, width, channels] to f32. Filters keep their size when an image
// shrinks, as in tf.image.resize without antialiasing.
Tensor resize(const Tensor& image, int64_t height, int64_t width, const std::string& interpolation);

// The largest centred crop with the aspect ratio of height × width.
Tensor crop_to_ratio(const Tensor& image, int64_t height, int64_t width);
// Resizes an image to fit into height × width, and pads it with zeros.
Tensor resize_with_pad(const Tensor& image, int64_t height, int64_t width,
                       const std::string& interpolation);

// Transposes [height, width, channels] to [channels, height, width].
Tensor channels_first(const Tensor& image);

}  // namespace keratin::image

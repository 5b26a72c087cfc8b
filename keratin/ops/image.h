#pragma once

#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Keras's operations on images. Images are [batch, height, width, channels], or one image without
// the batch, and channels_first is done with transposes. Results have the dtype of the images;
// mixtures of pixels are computed in floats.
namespace keratin::ops {

struct KERATIN_API ResizeAttrs {
  Dims size;  // height and width of the result
  std::string method = "bilinear";
  bool antialias = false;  // wider filters where the result is smaller
  static constexpr auto fields =
      field_list(field("size", &ResizeAttrs::size), field("method", &ResizeAttrs::method),
                 field("antialias", &ResizeAttrs::antialias));
};

// A batch of images in another size: the pixel o of the result lies at s = (o + ½) · in / out of
// the input, whose pixel i spans [i, i + 1]. "nearest" takes the pixel floor(s); "bilinear" mixes
// the two whose centres surround s, and stays with the last one at the edges; "area" averages what
// the pixel covers; "bicubic", "lanczos3" and "lanczos5" are filters around s.
KERATIN_API Value resize(Value x, ResizeAttrs attrs,
                         const std::string& data_format = "channels_last");

struct KERATIN_API ResizeOptions {
  std::string interpolation = "bilinear";
  bool antialias = false;
  bool crop_to_aspect_ratio = false;  // cut off what the aspect ratio of the result leaves out
  bool pad_to_aspect_ratio = false;   // or add fill_value at both sides
  std::string fill_mode = "constant";
  double fill_value = 0;
  std::string data_format = "channels_last";
};
// The same of a batch or one image of any dtype, with all options of Keras. Integers are rounded.
KERATIN_API Value resize(Value images, const Dims& size, const ResizeOptions& options);

// How pixels are read at points between and outside of them.
struct KERATIN_API TransformOptions {
  std::string interpolation = "bilinear";  // or "nearest"
  std::string fill_mode = "constant";      // or "nearest", "wrap", "mirror", "reflect"
  double fill_value = 0;
  std::string data_format = "channels_last";
};

// out[y, x] = images[(b0 x + b1 y + b2) / k, (a0 x + a1 y + a2) / k], k = c0 x + c1 y + 1, with the
// transform {a0, a1, a2, b0, b1, b2, c0, c1}: one for all images, [8] or [1, 8], or one for each.
KERATIN_API Value affine_transform(Value images, Value transform,
                                   const TransformOptions& options = {});
// Moves the four start points (x, y) to the end points: [4, 2] for all images, or [batch, 4, 2].
// What lies outside is filled with the constant.
KERATIN_API Value perspective_transform(Value images, Value start_points, Value end_points,
                                        const TransformOptions& options = {});
// The transforms [batch, 8] that do this.
KERATIN_API Value compute_homography_matrix(Value start_points, Value end_points);
// inputs[coordinates[0, …], coordinates[1, …], …]: an element at the nearest position (order 0) or
// a linear mixture (order 1). Modes as above.
KERATIN_API Value map_coordinates(Value inputs, Value coordinates, int64_t order,
                                  const std::string& fill_mode = "constant", double fill_value = 0);
// Moves each pixel by alpha · blur(normal noise · sigma), the same along both axes, as Keras does.
// The noise takes random_words(f32, {batch, height, width}) words of the key.
KERATIN_API Value elastic_transform(Value images, Value key, double alpha = 20, double sigma = 5,
                                    const TransformOptions& options = {.fill_mode = "reflect"});

// Convolves each channel with exp(-½ (y / sigma[1])²) · exp(-½ (x / sigma[0])²), which sums to 1.
KERATIN_API Value gaussian_blur(Value images, const Dims& kernel_size = {3, 3},
                                const std::vector<double>& sigma = {1, 1},
                                const std::string& data_format = "channels_last");
// The same with a computed sigma, [2].
KERATIN_API Value gaussian_blur(Value images, const Dims& kernel_size, Value sigma,
                                const std::string& data_format = "channels_last");

// 0.2989 r + 0.587 g + 0.114 b, as one channel; an image of one channel is that already.
KERATIN_API Value rgb_to_grayscale(Value images, const std::string& data_format = "channels_last");
// Hue, saturation and value, each in [0, 1]; the images are floats in [0, 1].
KERATIN_API Value rgb_to_hsv(Value images, const std::string& data_format = "channels_last");
KERATIN_API Value hsv_to_rgb(Value images, const std::string& data_format = "channels_last");

}  // namespace keratin::ops

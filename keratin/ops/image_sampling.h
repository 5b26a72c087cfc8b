#pragma once

#include <functional>

#include "keratin/ops/image.h"

// What the operations on images share.
namespace keratin::ops {

// Calls a function on a batch of images with channels last, and brings its result to the layout of
// `images`: [height, width, channels] if that is one image, and channels first if these are.
Value on_batch(std::string_view who, Value images, const std::string& data_format,
               const std::function<Value(Value)>& function);

void check_fill_mode(std::string_view who, const std::string& fill_mode);

// How elements are read at positions between and outside of them.
struct Sampling {
  bool nearest = false;             // else linear
  std::string border = "constant";  // "nearest", "wrap", "mirror" or "reflect", for whole positions
  double fill_value = 0;
};

// The pixels of a batch of images at the positions y and x: floats [batch or 1, height, width].
Value sample(Value images, Value y, Value x, const Sampling& how);

// A transform as in affine_transform, of scalars or [batch, 1, 1]; c0 and c1 may be undefined: 0.
struct Projection {
  Value a0, a1, a2, b0, b1, b2, c0 = {}, c1 = {};
};
// Transforms a batch of images with channels last.
Value project(Value images, const Projection& by, const TransformOptions& options);
// The rows of transforms [batch, 8].
Projection projection_of(Value transforms);

// An elastic transform of a batch of images with channels last by normal noise [batch, height,
// width]; alpha and sigma are scalars, and sigma is at most max_sigma.
Value move_elastically(Value images, Value noise, Value alpha, Value sigma, double max_sigma,
                       const TransformOptions& options);

}  // namespace keratin::ops

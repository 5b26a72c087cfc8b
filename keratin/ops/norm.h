#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Normalisation. Scale and offset may be undefined values: then they are 1 and 0. Statistics are
// f64 for f64 and f32 for every other dtype, and so is the arithmetic, as in Keras.
namespace keratin::ops {

// Scale and offset follow x (and the statistics) in a node's inputs, where they are given.
struct KERATIN_API LayerNormAttrs {
  Dims axes;  // sorted, not negative
  double epsilon = 1e-3;
  bool scale = false;
  bool offset = false;
  static constexpr auto fields =
      field_list(field("axes", &LayerNormAttrs::axes), field("epsilon", &LayerNormAttrs::epsilon),
                 field("scale", &LayerNormAttrs::scale), field("offset", &LayerNormAttrs::offset));
};
struct KERATIN_API BatchNormAttrs {
  int64_t axis = 0;  // of the channels, not negative
  double epsilon = 1e-3;
  bool scale = false;
  bool offset = false;
  static constexpr auto fields =
      field_list(field("axis", &BatchNormAttrs::axis), field("epsilon", &BatchNormAttrs::epsilon),
                 field("scale", &BatchNormAttrs::scale), field("offset", &BatchNormAttrs::offset));
};
struct KERATIN_API GroupNormAttrs {
  int64_t groups = 32;
  int64_t axis = 0;
  double epsilon = 1e-3;
  bool scale = false;
  bool offset = false;
  static constexpr auto fields =
      field_list(field("groups", &GroupNormAttrs::groups), field("axis", &GroupNormAttrs::axis),
                 field("epsilon", &GroupNormAttrs::epsilon), field("scale", &GroupNormAttrs::scale),
                 field("offset", &GroupNormAttrs::offset));
};

// (x - mean) / √(variance + epsilon) · scale + offset, with the mean and variance of x over the
// axes. Scale and offset have the sizes of the axes.
KERATIN_API Value layer_norm(Value x, Value scale = {}, Value offset = {}, const Dims& axes = {-1},
                             double epsilon = 1e-3);
// x / √(mean of x² + epsilon) · scale
KERATIN_API Value rms_norm(Value x, Value scale = {}, const Dims& axes = {-1},
                           double epsilon = 1e-6);
// Layer norm over each of the groups of channels of each sample.
KERATIN_API Value group_norm(Value x, Value scale, Value offset, int64_t groups, int64_t axis = -1,
                             double epsilon = 1e-3);

// The same with the mean and variance of each channel over the whole batch, which are results too.
struct BatchNorm {
  Value y;
  Value mean;
  Value variance;
};
KERATIN_API BatchNorm batch_norm_training(Value x, Value scale = {}, Value offset = {},
                                          int64_t axis = -1, double epsilon = 1e-3);
// With statistics known before.
KERATIN_API Value batch_norm_inference(Value x, Value mean, Value variance, Value scale = {},
                                       Value offset = {}, int64_t axis = -1, double epsilon = 1e-3);

// The dtype of the statistics of an input.
constexpr DType statistics_dtype(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace keratin::ops

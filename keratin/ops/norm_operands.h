#pragma once

#include "keratin/ir/operands.h"
#include "keratin/ops/norm.h"

// The operands of the normalisations. Scale and offset are absent where the attributes say so.
namespace keratin::ops {

template <class T>
struct LayerNormOperands {
  T x, scale, offset;
  T y, mean, rstd;

  static LayerNormOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<LayerNormAttrs>();
    return {.x = r.input(),
            .scale = r.input_if(attrs.scale),
            .offset = r.input_if(attrs.offset),
            .y = r.output(),
            .mean = r.output(),
            .rstd = r.output()};
  }
};

template <class T>
struct LayerNormGradOperands {
  T x, mean, rstd, dy, scale;
  T dx, dscale, doffset;

  static LayerNormGradOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<LayerNormAttrs>();
    return {.x = r.input(),
            .mean = r.input(),
            .rstd = r.input(),
            .dy = r.input(),
            .scale = r.input_if(attrs.scale),
            .dx = r.output(),
            .dscale = r.output(),
            .doffset = r.output()};
  }
};

template <class T>
struct RmsNormOperands {
  T x, scale;
  T y, rstd;

  static RmsNormOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<LayerNormAttrs>();
    return {.x = r.input(), .scale = r.input_if(attrs.scale), .y = r.output(), .rstd = r.output()};
  }
};

template <class T>
struct RmsNormGradOperands {
  T x, rstd, dy, scale;
  T dx, dscale;

  static RmsNormGradOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<LayerNormAttrs>();
    return {.x = r.input(),
            .rstd = r.input(),
            .dy = r.input(),
            .scale = r.input_if(attrs.scale),
            .dx = r.output(),
            .dscale = r.output()};
  }
};

template <class T>
struct BatchNormTrainingOperands {
  T x, scale, offset;
  T y, mean, variance;

  static BatchNormTrainingOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<BatchNormAttrs>();
    return {.x = r.input(),
            .scale = r.input_if(attrs.scale),
            .offset = r.input_if(attrs.offset),
            .y = r.output(),
            .mean = r.output(),
            .variance = r.output()};
  }
};

template <class T>
struct BatchNormGradOperands {
  T x, mean, variance, dy, scale;
  T dx, dscale, doffset;

  static BatchNormGradOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<BatchNormAttrs>();
    return {.x = r.input(),
            .mean = r.input(),
            .variance = r.input(),
            .dy = r.input(),
            .scale = r.input_if(attrs.scale),
            .dx = r.output(),
            .dscale = r.output(),
            .doffset = r.output()};
  }
};

template <class T>
struct BatchNormInferenceOperands {
  T x, mean, variance, scale, offset;
  T y;

  static BatchNormInferenceOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<BatchNormAttrs>();
    return {.x = r.input(),
            .mean = r.input(),
            .variance = r.input(),
            .scale = r.input_if(attrs.scale),
            .offset = r.input_if(attrs.offset),
            .y = r.output()};
  }
};

template <class T>
struct GroupNormOperands {
  T x, scale, offset;
  T y;

  static GroupNormOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<GroupNormAttrs>();
    return {.x = r.input(),
            .scale = r.input_if(attrs.scale),
            .offset = r.input_if(attrs.offset),
            .y = r.output()};
  }
};

template <class T>
struct MomentsOperands {
  T x;
  T mean, variance;

  static MomentsOperands read(OperandReader<T> r) {
    return {.x = r.input(), .mean = r.output(), .variance = r.output()};
  }
};

}  // namespace keratin::ops

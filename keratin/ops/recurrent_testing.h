#pragma once

#include <cmath>

#include "keratin/autodiff/gradients.h"
#include "keratin/ir/node.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/expect_values.h"

// Shared by the tests of lstm and gru.
namespace keratin::ops {

// 0.8 · sin(1.7 k + seed): numbers that are easy to compute in Keras, too.
inline Tensor wave(double seed, const Shape& shape) {
  Tensor tensor(DType::f64, shape);
  for (int64_t k = 0; k < tensor.count(); ++k)
    tensor.set(k, std::sin(1.7 * static_cast<double>(k) + seed) * 0.8);
  return tensor;
}

inline Tensor numbers(const Shape& shape, const std::vector<double>& values) {
  return Tensor::of(DType::f64, shape, values);
}

// The gradients of Σ output · wave(7), wave(8), … by the float inputs.
inline Values wave_gradients(const Values& outputs, const Values& inputs) {
  Value loss;
  double seed = 7;
  for (const Value& output : outputs) {
    const Value part = sum(output * constant(output.block(), wave(seed++, output.shape())));
    loss = loss.defined() ? loss + part : part;
  }
  Values floats;
  for (const Value& input : inputs)
    if (is_float(input.dtype())) floats.push_back(input);
  return gradients(loss, floats);
}

// XLA's tanh is good to 3e-8, in float64 too.
inline constexpr double keras_tolerance = 2e-7;

inline const std::vector<double> keep_some = {0, 1, 1, 0, 1, 0, 1, 1};

}  // namespace keratin::ops

#pragma once

#include <functional>
#include <vector>

#include "keratin/testing/expect_values.h"

// Tests of absolute values: inputs that a formula gives, and one result known from elsewhere.
namespace keratin::testing {

// Element i is (i · step mod modulus) - offset, times a factor.
inline Tensor counted(const Shape& shape, int64_t step, int64_t modulus, int64_t offset,
                      double factor = 1) {
  Tensor tensor(DType::f32, shape);
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.set(i, factor * static_cast<double>(i * step % modulus - offset));
  return tensor;
}

// Runs the op on every backend and compares its one output.
inline void expect_values(const std::vector<Tensor>& inputs,
                          const std::function<Value(const Values&)>& build, const Shape& shape,
                          const std::vector<double>& expected, double tolerance = 1e-5) {
  const auto list = [&](const Values& in) { return Values{build(in)}; };
  expect_values(list, inputs, {Tensor::of(inputs[0].dtype(), shape, expected)}, tolerance);
}

}  // namespace keratin::testing

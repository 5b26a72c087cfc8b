#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "keratin/testing/expect_values.h"

// Tests against known values: inputs from a formula, and a result computed elsewhere.
namespace keratin::testing {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline Tensor ints(const Shape& shape, const std::vector<int64_t>& values,
                   DType dtype = DType::i32) {
  return Tensor::of(dtype, shape, values);
}

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

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "keratin/engine/compile.h"
#include "keratin/testing/check_op.h"

// Tests of absolute values: inputs that a formula gives, and results known from elsewhere.
namespace keratin::testing {

// Element i is (i · step mod modulus) - offset.
inline Tensor counted(const Shape& shape, int64_t step, int64_t modulus, int64_t offset) {
  Tensor tensor(DType::f32, shape);
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.set(i, static_cast<double>(i * step % modulus - offset));
  return tensor;
}

inline std::vector<Tensor> evaluate(const std::vector<Tensor>& inputs,
                                    const std::function<Values(const Values&)>& build) {
  Module module;
  for (const Tensor& input : inputs) module.input({input.dtype(), input.shape()});
  for (const Value& output : build(module.block().parameter_values())) module.output(output);
  return compile(std::move(module))(inputs);
}

// Runs the op and compares its first output.
inline void expect_values(const std::vector<Tensor>& inputs,
                          const std::function<Value(const Values&)>& build, const Shape& shape,
                          const std::vector<double>& expected, double tolerance = 1e-5) {
  const Tensor actual = evaluate(inputs, [&](const Values& in) { return Values{build(in)}; })[0];
  expect_close(actual, Tensor::of(actual.dtype(), shape, expected), tolerance, "value");
}

}  // namespace keratin::testing

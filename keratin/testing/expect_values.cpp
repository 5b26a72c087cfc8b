#include "keratin/testing/expect_values.h"

#include <gtest/gtest.h>

#include <numeric>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ir/node.h"

namespace keratin::testing {

Tensor counting(DType dtype, const Shape& shape) {
  std::vector<int64_t> values(static_cast<size_t>(shape.count()));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::of(dtype, shape, values);
}

std::vector<Tensor> evaluate(const std::function<Values(const Values&)>& build,
                             const std::vector<Tensor>& inputs, const std::string& backend) {
  Module module;
  for (const Tensor& input : inputs) module.input({input.dtype(), input.shape()});
  for (const Value& output : build(module.block().parameter_values())) module.output(output);
  return compile(std::move(module), {.backend = backend})(inputs);
}

void expect_values(const std::function<Values(const Values&)>& build,
                   const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
                   double tolerance) {
  for (const char* backend : {"reference", "cpu"}) {
    const auto actual = evaluate(build, inputs, backend);
    ASSERT_EQ(actual.size(), expected.size()) << backend;
    for (size_t i = 0; i < actual.size(); ++i)
      expect_close(actual[i], expected[i],
                   tolerance > 0 ? tolerance : default_tolerance(expected[i].dtype()),
                   text("output ", i, ", ", backend));
  }
}

}  // namespace keratin::testing

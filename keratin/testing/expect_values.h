#pragma once

#include "keratin/testing/check_op.h"

namespace keratin::testing {

// Runs ops on data, on every backend; each must return the expected tensors.
// The tolerance is that of expect_close; 0 means by dtype.
void expect_values(const std::function<Values(const Values&)>& build,
                   const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
                   double tolerance = 0);

// 0, 1, 2, … in a shape.
Tensor counting(DType dtype, const Shape& shape);

// The results of ops on data, on one backend.
std::vector<Tensor> evaluate(const std::function<Values(const Values&)>& build,
                             const std::vector<Tensor>& inputs, const std::string& backend = "cpu");

}  // namespace keratin::testing

#pragma once

#include <cmath>
#include <vector>

#include "keratin/tensor/tensor.h"

namespace keratin::testing {

// Test data between -1 and 1: sin(from), sin(from + step), …
inline Tensor waves(const Shape& shape, double from = 0, double step = 0.7) {
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(from + step * static_cast<double>(i));
  return Tensor::of(DType::f32, shape, values);
}

}  // namespace keratin::testing

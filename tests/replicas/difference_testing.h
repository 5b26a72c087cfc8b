#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/tensor/tensor.h"

namespace keratin::testing {

// The largest difference of two lists of tensors, relative to what it should be where that is
// large. NaN is like NaN: the mean of a row that is masked throughout, as in Keras.
inline double difference(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  double most = 0;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    EXPECT_EQ(got[i].shape(), expected[i].shape());
    for (int64_t k = 0; k < std::min(got[i].count(), expected[i].count()); ++k) {
      const double have = got[i].at(k), want = expected[i].at(k);
      if (have == want || (std::isnan(have) && std::isnan(want))) continue;
      const double off = std::abs(have - want) / (1 + std::abs(want));
      if (std::isnan(off)) return std::numeric_limits<double>::infinity();
      most = std::max(most, off);
    }
  }
  return most;
}

// How much two runs may differ: devices of the CPU do what one device does; a GPU, where there is
// one behind the names gpu:i, adds up in orders of its own.
inline double tolerance(double on_cpu, double on_gpu) {
  return cuda::device_count() > 0 ? on_gpu : on_cpu;
}

}  // namespace keratin::testing

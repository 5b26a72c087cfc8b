#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/tensor/tensor.h"

namespace keratin::testing {

// The largest difference between two lists of tensors, relative to the expected value where that is
// large. NaN equals NaN: as in Keras, it is the mean of a row that is masked everywhere.
inline double difference(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  double max = 0;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    EXPECT_EQ(got[i].shape(), expected[i].shape());
    for (int64_t k = 0; k < std::min(got[i].count(), expected[i].count()); ++k) {
      const double have = got[i].at(k), want = expected[i].at(k);
      if (have == want || (std::isnan(have) && std::isnan(want))) continue;
      const double off = std::abs(have - want) / (1 + std::abs(want));
      if (std::isnan(off)) return std::numeric_limits<double>::infinity();
      max = std::max(max, off);
    }
  }
  return max;
}

// How much two runs may differ: CPU devices compute the same bits as one device; a real GPU adds in
// another order.
inline double tolerance(double on_cpu, double on_gpu) {
  return cuda::device_count() > 0 ? on_gpu : on_cpu;
}

}  // namespace keratin::testing

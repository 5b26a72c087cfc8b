#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "keratin/tensor/tensor.h"

namespace keratin {
namespace {

TEST(TensorThreads, CopiesAreReadAndDroppedFromManyThreadsAtOnce) {
  std::vector<double> sums(4);
  {
    const Tensor shared = Tensor::full(DType::f32, {64}, 0.5);
    std::vector<std::jthread> readers;
    for (double& sum : sums) {
      readers.emplace_back([copy = shared, &sum] {
        for (int round = 0; round < 100; ++round) {
          const auto values = Tensor(copy).reshape({8, 8}).to_vector();
          sum += std::accumulate(values.begin(), values.end(), 0.0);
        }
      });
    }
  }
  for (double sum : sums) EXPECT_EQ(sum, 100 * 64 * 0.5);
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/dropout.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_layer.h"

namespace keratin {
namespace {

TEST(ActivityRegularization, AddsALossPerSample) {
  const Tensor x = Tensor::of<double>(DType::f32, {2, 2}, {1, -2, 3, -4});
  const auto result =
      run_layer(*ActivityRegularization({.l1 = 0.5, .l2 = 0.25}), {{MaskedTensor{x}}, {}});
  ASSERT_EQ(result.losses.size(), 1u);
  EXPECT_NEAR(result.losses[0].at(0), (0.5 * 10 + 0.25 * 30) / 2, 1e-5);
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/core.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "keratin/testing/check_layer.h"

namespace keratin {
namespace {

using testing::check_layer;

// Finite differences make no sense here: a step slightly changed is not masked any more.
TEST(Masking, BehavesAsInKeras) { check_layer("Masking", {.gradient = false}); }

TEST(Masking, Keras2MultipliesByTheMask) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const MaskedTensor x{Tensor::of<double>(DType::f32, {1, 2, 1}, {inf, 2})};
  const auto layer = Masking({.mask_value = inf});
  const auto three = run_layer(*layer, {{x}, {}});
  EXPECT_EQ(three.outputs.leaf(), Tensor::of<double>(DType::f32, {1, 2, 1}, {0, 2}));
  const auto two = run_layer(*layer, {{x}, {}}, {.dialect = Dialect::keras2});
  EXPECT_TRUE(std::isnan(two.outputs.leaf().at(0)));
  EXPECT_EQ(*two.masks[0], Tensor::of<int>(DType::boolean, {1, 2}, {0, 1}));
}

TEST(Masking, ComparesIntegersWithAFraction) {
  const MaskedTensor x{Tensor::of<int>(DType::i32, {1, 2, 1}, {0, 1})};
  const auto result = run_layer(*Masking({.mask_value = 0.5}), {{x}, {}});
  EXPECT_EQ(*result.masks[0], Tensor::of<int>(DType::boolean, {1, 2}, {1, 1}));
}

}  // namespace
}  // namespace keratin

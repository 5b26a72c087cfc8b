#include "keratin/layers/normalizations.h"

#include <cmath>

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(RMSNormalization, ScalesAlongItsAxis) {
  const auto norm = RMSNormalization({.axis = 1, .epsilon = 0});
  norm->ensure_built({Shape{1, 2, 3}});
  norm->set_weights({Tensor::of<float>(DType::f32, {2}, {1, 10})});
  const Tensor x = Tensor::of<float>(DType::f32, {1, 2, 3}, {1, 2, 3, 1, 2, 3});
  const Tensor y = run_layer(*norm, {{MaskedTensor{x}}, {}}).outputs;
  for (int64_t i = 0; i < 6; ++i) EXPECT_NEAR(y.at(i), i < 3 ? 1 : 10, 1e-5);
}

TEST(RMSNormalization, RefusesWrongAxesAndKeras2Masks) {
  expect_user_error([] { RMSNormalization({.axis = 2})(Input({4})); }, "Axis 2 is out of bounds");
  const auto result = run_layer(
      *RMSNormalization(),
      {{MaskedTensor{Tensor::zeros(DType::f32, {1, 2, 3}), Tensor::zeros(DType::boolean, {1, 2})}},
       {}},
      {.dialect = Dialect::keras2});
  EXPECT_FALSE(result.masks[0].has_value());
}

}  // namespace
}  // namespace keratin

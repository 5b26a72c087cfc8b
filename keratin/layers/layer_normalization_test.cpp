#include "keratin/layers/normalizations.h"

#include <cmath>

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(LayerNormalization, WritesAListOfAxesOnceBuilt) {
  const auto norm = LayerNormalization();
  EXPECT_EQ(norm->get_config().at("axis"), Json(-1));
  norm(Input({4}));
  EXPECT_EQ(norm->get_config().at("axis"), Json::parse("[-1]"));
}

// rms_scaling of older models divides by the deviation without subtracting the mean.
TEST(LayerNormalization, ScalesByTheDeviation) {
  const auto norm = LayerNormalization({.axis = 1, .epsilon = 0, .rms_scaling = true});
  const Tensor x = Tensor::of<float>(DType::f32, {1, 3, 1}, {1, 2, 6});
  const Tensor y = run_layer(*norm, {{MaskedTensor{x}}, {}}).outputs;
  for (int64_t i = 0; i < 3; ++i) EXPECT_NEAR(y.at(i), x.at(i) / std::sqrt(14.0 / 3), 1e-6);
  EXPECT_EQ(norm->weights().size(), 1u);
}

TEST(LayerNormalization, RefusesWrongAxes) {
  expect_user_error(
      [] {
        LayerNormalization({.axis = {1, 2}})(Input({4}));
      },
      {"Axis 2 is out of bounds", "(None, 4)", "[1, 2]"});
  expect_user_error([] { LayerNormalization()(Input({unknown})); }, "defined dimension");
}

}  // namespace
}  // namespace keratin

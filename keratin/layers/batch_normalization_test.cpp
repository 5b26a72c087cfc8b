#include "keratin/layers/normalizations.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// Gradients treat the corrections of renorm as constants.
TEST(BatchNormalization, BehavesAsInKeras) {
  check_layer("BatchNormalization", {.no_gradient = {"renorm"}});
}

Tensor batch() { return Tensor::of<float>(DType::f32, {4, 1}, {1, 2, 3, 6}); }

TEST(BatchNormalization, UpdatesAveragesOnlyInTraining) {
  const auto norm = BatchNormalization({.momentum = 0.5});
  run_layer(*norm, {{MaskedTensor{batch()}}, {}});
  EXPECT_EQ(norm->weights()[2].value().at(0), 0);
  run_layer(*norm, {{MaskedTensor{batch()}}, {}}, {.training = true});
  EXPECT_FLOAT_EQ(norm->weights()[2].value().at(0), 1.5);   // 0.5 · 0 + 0.5 · 3
  EXPECT_FLOAT_EQ(norm->weights()[3].value().at(0), 2.25);  // 0.5 · 1 + 0.5 · 3.5
}

TEST(BatchNormalization, UsesAveragesWhenFrozen) {
  const auto norm = BatchNormalization({.epsilon = 0});
  norm->ensure_built({Shape{4, 1}});
  norm->set_trainable(false);
  const auto result = run_layer(*norm, {{MaskedTensor{batch()}}, {}}, {.training = true});
  EXPECT_EQ(Tensor(result.outputs), batch());
  EXPECT_EQ(norm->weights()[2].value().at(0), 0);
}

// Keras 2 passes the mask on, but ignores it.
TEST(BatchNormalization, CountsMaskedPositionsInKeras2) {
  const Tensor mask = Tensor::of<bool>(DType::boolean, {1, 4}, {true, true, true, false});
  const Tensor x = Tensor::of<float>(DType::f32, {1, 4, 1}, {1, 2, 3, 6});
  for (const auto& [dialect, mean] : {std::pair(Dialect::keras2, 3), {Dialect::keras3, 2}}) {
    const auto norm = BatchNormalization({.momentum = 0});
    const auto result =
        run_layer(*norm, {{MaskedTensor{x, mask}}, {}}, {.training = true, .dialect = dialect});
    EXPECT_NEAR(norm->weights()[2].value().at(0), mean, 1e-6);
    EXPECT_EQ(result.masks[0].value(), mask);
  }
}

TEST(BatchNormalization, ReadsTheListOfAxesOfKeras2) {
  const Json config = Json::parse(R"({"name": "b", "axis": [1]})");
  const LayerPtr layer = BatchNormalizationLayer::from_config(config, {});
  EXPECT_EQ(layer->get_config().at("axis"), Json(1));
}

TEST(BatchNormalization, RefusesBadArguments) {
  expect_user_error([] { BatchNormalization({.axis = {1, 2}}); }, {"one axis", "2"});
  expect_user_error([] { BatchNormalization({.axis = 3})(Input({4})); },
                    {"Axis 3 is out of bounds", "(None, 4)"});
  expect_user_error([] { BatchNormalization()(Input({unknown})); },
                    {"Axis -1", "defined dimension", "(None, None)"});
  const auto clipped = [](const char* clipping) {
    BatchNormalization({.renorm = true, .renorm_clipping = Json::parse(clipping)});
  };
  expect_user_error([&] { clipped(R"({"rmed": 1})"); }, {"invalid keys", "rmed"});
  expect_user_error([&] { clipped(R"({"rmin": 2, "rmax": 1})"); }, "rmax should be greater");
  expect_user_error([&] { clipped(R"({"dmax": -1})"); }, "dmax should be non-negative");
}

TEST(BatchNormalization, RefusesMasksOfAnotherRank) {
  const auto norm = BatchNormalization();
  expect_user_error(
      [&] {
        run_layer(*norm, {{MaskedTensor{Tensor::zeros(DType::f32, {2, 3, 4, 5}),
                                        Tensor::zeros(DType::boolean, {2, 3})}},
                          {}});
      },
      {"one dimension less", "(2, 3)", "(2, 3, 4, 5)"});
}

}  // namespace
}  // namespace keratin

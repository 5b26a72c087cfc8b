#include "keratin/layers/activations.h"
#include "keratin/graph/named.h"

#include "keratin/graph/input.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// Keras 3.15 computes another threshold for sparsemax, see ops/activations.h.
TEST(Activation, BehavesAsInKeras) { check_layer("Activation", {.skip = {"sparsemax"}}); }

TEST(Activation, TakesAnyFunction) {
  const Activation doubled("doubled", [](Value x) { return x + x; });
  const auto layer = layers::Activation({.activation = doubled});
  const Tensor x = Tensor::of<double>(DType::f32, {2}, {1, -2});
  EXPECT_EQ(run_layer(*layer, {{MaskedTensor{x}}, {}}).outputs.leaf(),
            Tensor::of<double>(DType::f32, {2}, {2, -4}));
  EXPECT_EQ(layer->get_config().at("activation"), function_json("doubled"));
}

TEST(ReLU, RefusesNegativeOptions) {
  expect_user_error([] { ReLU({.max_value = -1.0}); }, {"max_value", "-1"});
  expect_user_error([] { ReLU({.negative_slope = -0.5}); }, {"negative_slope", "-0.5"});
  expect_user_error([] { ReLU({.threshold = -2}); }, {"threshold", "-2"});
  expect_user_error([] { LeakyReLU({.negative_slope = -0.5}); }, {"Leaky ReLU", "-0.5"});
}

TEST(ReLU, KeepsIntegers) {
  const Tensor x = Tensor::of<double>(DType::i32, {3}, {-1, 0, 2});
  EXPECT_EQ(run_layer(*ReLU(), {{MaskedTensor{x}}, {}}).outputs.leaf(),
            Tensor::of<double>(DType::i32, {3}, {0, 0, 2}));
}

TEST(LeakyReLU, ReadsAlphaOfKeras2) {
  const Json old = Json::parse(
      R"({"class_name": "LeakyReLU", "config": {"name": "l", "trainable": true, "alpha": 0.25}})");
  EXPECT_EQ(layer_from_json(old)->get_config().at("negative_slope"), Json(0.25));
}

TEST(PReLU, RefusesUnknownSizesOfAxesWithSlopes) {
  expect_user_error([] { PReLU()(Input({unknown, 3})); }, {"PReLU", "axis 1", "(None, None, 3)"});
  EXPECT_EQ(PReLU({.shared_axes = Dims{1}})(Input({unknown, 3})).leaf().shape(),
            Shape({unknown, unknown, 3}));
  expect_user_error([] { PReLU({.shared_axes = Dims{4}})(Input({2, 3})); }, "shared axis 4");
}

TEST(Softmax, RefusesAMaskThatDoesNotFit) {
  const MaskedTensor x{Tensor::zeros(DType::f32, {2, 4, 3}), Tensor::zeros(DType::boolean, {2, 4})};
  expect_user_error(
      [&] {
        run_layer(*Softmax(), {{x}, {}});
      },
      {"mask", "broadcastable", "(2, 4, 3)", "(2, 4)"});
}

}  // namespace
}  // namespace keratin

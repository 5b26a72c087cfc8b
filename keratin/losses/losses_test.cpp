#include "keratin/losses/losses.h"
#include "keratin/ir/node.h"

#include <gtest/gtest.h>

#include <cmath>

#include "keratin/autodiff/gradients.h"
#include "keratin/losses/registry.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/testing/check_loss.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::check_loss;
using testing::check_op;
using testing::expect_user_error;

class AllLosses : public ::testing::TestWithParam<std::string> {};
TEST_P(AllLosses, GiveKerasValuesAndGradients) { check_loss(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Losses, AllLosses,
    ::testing::ValuesIn(testing::golden_classes(testing::read_golden("losses.json"), "calls")),
    [](const auto& test) { return test.param; });

TEST(Losses, HaveGoldenCases) {
  EXPECT_GE(testing::golden_classes(testing::read_golden("losses.json"), "calls").size(), 22U);
}

// Compared with finite differences in f64 on every backend, and more: see check_op.
void check_smooth(const Loss& loss, const Tensor& y_true, const Shape& y_pred, double low,
                  double high) {
  SCOPED_TRACE(loss.name());
  check_op({.name = loss.name(),
            .inputs = {{DType::f64, y_pred}},
            .build = [&](const Values& in) -> Values {
              return {loss(ops::constant(in[0].block(), y_true), in[0])};
            },
            .low = low,
            .high = high,
            .unknown_sizes = false});
}

TEST(Losses, AgreeWithFiniteDifferences) {
  const LossOptions options{.reduction = "none", .dtype = DType::f64};
  const Tensor numbers = testing::random_tensor({DType::f64, {3, 4}}, -2, 2, 1);
  const Tensor bits = Tensor::of<double>(DType::f64, {2, 3}, {1, 0, 0, 0, 1, 1});
  const Tensor labels = Tensor::of<double>(DType::i32, {4}, {0, 0, 1, 1});
  check_smooth({losses::LogCosh{}, options}, numbers, {3, 4}, -2, 2);
  check_smooth({losses::CosineSimilarity{}, options}, numbers, {3, 4}, 0.5, 2);
  check_smooth({losses::BinaryFocalCrossentropy{.from_logits = true}, options}, bits, {2, 3}, -2,
               2);
  check_smooth({losses::CategoricalFocalCrossentropy{}, options}, bits, {2, 3}, 0.2, 0.9);
  check_smooth({losses::Tversky{.axis = Sizes{1}}, options}, bits, {2, 3}, 0.1, 0.9);
  check_smooth({losses::SparseCategoricalCrossentropy{}, options}, labels, {4, 3}, 0.2, 0.9);
  check_smooth({losses::Circle{.gamma = 2}, options}, labels, {4, 3}, 0.1, 0.4);
}

TEST(Ctc, AgreesWithFiniteDifferences) {
  const Tensor labels =
      Tensor::of<double>(DType::i32, {3, 4}, {1, 1, 2, 0, 2, 3, 0, 0, 3, 3, 3, 1});
  check_smooth({losses::CTC{}, {.reduction = "none", .dtype = DType::f64}}, labels, {3, 9, 4}, -2,
               2);
}

// One label in two steps: it takes both, or one beside a blank.
TEST(Ctc, SumsOverAllAlignments) {
  const double p[2][2] = {{0.3, 0.7}, {0.6, 0.4}};  // blank, label
  const Tensor scores = Tensor::of<double>(
      DType::f32, {1, 2, 2},
      {std::log(p[0][0]), std::log(p[0][1]), std::log(p[1][0]), std::log(p[1][1])});
  const Tensor label = Tensor::of<double>(DType::i32, {1, 1}, {1});
  const double expected = p[0][1] * p[1][1] + p[0][1] * p[1][0] + p[0][0] * p[1][1];
  EXPECT_NEAR(Loss(losses::CTC{})(label, scores).at(0), -std::log(expected), 1e-6);
}

TEST(Losses, AreFoundByEveryNameOfKeras) {
  const Json golden = testing::read_golden("losses.json");
  for (const auto& [name, found] : golden.at("names").as_object()) {
    SCOPED_TRACE(name);
    const Loss loss(name);
    EXPECT_EQ(loss.to_json(), Json(name));
    const std::string& target = found.as_string();
    EXPECT_TRUE(loss.class_name() == target || snake_case(loss.class_name()) == target)
        << loss.class_name();
    EXPECT_TRUE(loss.name() == name || loss.class_name() == name) << loss.name();
    EXPECT_EQ(Loss::from_json(name), loss);
  }
  EXPECT_EQ(Loss("Huber").name(), "huber_loss");
  EXPECT_EQ(Loss("huber").name(), "huber");
}

TEST(Losses, ReadFunctionsAndWrappersOfKeras) {
  const Json function = Json::parse(R"({"module": "builtins", "class_name": "function",
      "config": "huber", "registered_name": "function"})");
  EXPECT_EQ(Loss::from_json(function), Loss("huber"));
  const Json wrapper = Json::parse(R"({"module": "keras.src.losses.losses",
      "class_name": "LossFunctionWrapper", "config": {"name": "h", "reduction": "sum",
      "fn": {"module": "builtins", "class_name": "function", "config": "huber",
      "registered_name": "function"}, "delta": 2.0}, "registered_name": "LossFunctionWrapper"})");
  const Loss loss = Loss::from_json(wrapper);
  EXPECT_EQ(loss.name(), "h");
  const Tensor zero = Tensor::zeros(DType::f32, {1, 1});
  const Tensor three = Tensor::full(DType::f32, {1, 1}, 3);
  EXPECT_EQ(loss(zero, three).at(0), 2 * 3 - 2);  // delta · 3 - delta² / 2
  EXPECT_FALSE(Loss::from_json({}));
  // Keras 2 writes the default reduction as "auto".
  const Json old = Json::parse(
      R"({"class_name": "MeanSquaredError", "config": {"reduction": "auto", "name": "m"}})");
  EXPECT_EQ(Loss::from_json(old).options().reduction, "sum_over_batch_size");
}

TEST(Losses, ChooseACrossentropyByShapes) {
  const Loss loss("crossentropy");
  const Tensor one = Tensor::of<double>(DType::f32, {2, 1}, {0.25, 0.5});
  const Tensor two = Tensor::of<double>(DType::f32, {2, 2}, {0.25, 0.75, 0.5, 0.5});
  const Tensor numbers = Tensor::of<double>(DType::i32, {2}, {1, 0});
  const Tensor one_hot = Tensor::of<double>(DType::f32, {2, 2}, {0, 1, 1, 0});
  EXPECT_NEAR(loss(numbers, one).at(0), -(std::log(0.25) + std::log(0.5)) / 2, 1e-6);
  const double expected = -(std::log(0.75) + std::log(0.5)) / 2;
  EXPECT_NEAR(loss(numbers, two).at(0), expected, 1e-6);
  EXPECT_NEAR(loss(numbers.reshape({2, 1}), two).at(0), expected, 1e-6);
  EXPECT_NEAR(loss(one_hot, two).at(0), expected, 1e-6);
  EXPECT_EQ(loss.to_json(), Json("crossentropy"));
}

TEST(Losses, TakeData) {
  const Tensor t = Tensor::of<double>(DType::i32, {2, 2}, {0, 1, 2, 3});
  const Tensor p = Tensor::of<double>(DType::f64, {2, 2}, {1, 1, 0, 0});
  const Loss loss("mse");
  EXPECT_EQ(loss(t, p).at(0), 3.5);
  EXPECT_EQ(loss.each(t, p), Tensor::of<double>(DType::f32, {2}, {0.5, 6.5}));
  EXPECT_EQ(loss(t, p, Tensor::of<double>(DType::f32, {2}, {2, 0})).at(0), 0.5);
  EXPECT_EQ(loss(t, p, {}, Tensor::of<double>(DType::boolean, {2}, {1, 0})).at(0), 0.5);
}

// As in TensorFlow and PyTorch; JAX has a slope here.
TEST(Losses, AbsoluteErrorHasNoSlopeAtZero) {
  const Tensor same = Tensor::zeros(DType::f32, {1, 2});
  const Tensor slope = evaluate({same, same}, [](const Values& in) {
    return gradients(Loss("mae")(in[0], in[1]), {in[1]})[0];
  });
  EXPECT_EQ(slope.at(0), 0);
}

TEST(Losses, TakeAnyCallable) {
  const Loss loss([](Value t, Value p) { return ops::max(ops::abs(t - p), {-1}); });
  const Tensor t = Tensor::of<double>(DType::f32, {2, 2}, {0, 1, 2, 3});
  EXPECT_EQ(loss(t, Tensor::zeros(DType::f32, {2, 2})).at(0), 2);
  EXPECT_EQ(loss.name(), "loss");
  expect_user_error([&] { loss.to_json(); }, "function of the program");
}

// Predictions at ignored positions may be NaN, or all 0.
TEST(Losses, IgnorePredictionsThatDoNotCount) {
  const double nan = std::nan("");
  const Tensor p = Tensor::of<double>(DType::f32, {3, 2}, {nan, 1, 0.25, 0.75, 0, 0});
  const Tensor t = Tensor::of<double>(DType::i32, {3}, {-1, 1, -1});
  const Loss loss(losses::SparseCategoricalCrossentropy{.ignore_class = -1});
  EXPECT_NEAR(loss(t, p).at(0), -std::log(0.75), 1e-6);
}

TEST(Losses, RefuseBadArgumentsInKerasWords) {
  const auto f32 = [](Shape shape) { return Tensor::zeros(DType::f32, std::move(shape)); };
  expect_user_error([] { Loss("me"); }, "Could not interpret loss identifier: me");
  expect_user_error(
      [] { Loss(losses::MeanSquaredError{}, {.reduction = "foo"}); },
      {"Invalid value for argument `reduction`. Expected one of", "Received: reduction=foo"});
  expect_user_error(
      [&] {
        Loss("binary_crossentropy")(f32({2, 3}), f32({2, 4}));
      },
      "Arguments `target` and `output` must have the same shape. Received: "
      "target.shape=(2, 3), output.shape=(2, 4)");
  expect_user_error(
      [&] {
        Loss("categorical_crossentropy")(f32({2, 3}), f32({2, 4}));
      },
      "Arguments `target` and `output` must have the same shape. Received: "
      "target.shape=(2, 3), output.shape=(2, 4)");
  expect_user_error(
      [&] {
        Loss("sparse_categorical_crossentropy")(f32({3}), f32({2, 4}));
      },
      "Arguments `target` and `output` must have the same shape up until the last "
      "dimension: target.shape=(3,), output.shape=(2, 4)");
  expect_user_error([] { Loss(losses::CategoricalGeneralizedCrossEntropy{.q = 1}); },
                    "q must be in the interval (0, 1)");
  expect_user_error(
      [&] {
        Loss("ctc")(f32({2}), f32({2, 3, 4}));
      },
      "Targets `y_true` are expected to be a tensor of shape `(batch_size, "
      "max_length)` in integer format. Received: y_true.shape=(2,)");
  expect_user_error(
      [&] {
        Loss("ctc")(f32({2, 3}), f32({2, 3}));
      },
      "Logits `y_pred` are expected to be a tensor of shape `(batch_size, "
      "max_length, num_classes)`. Received: y_pred.shape=(2, 3)");
  expect_user_error(
      [] { Loss::from_json(Json::parse(R"({"class_name": "Dice", "config": {"axis": "x"}})")); },
      {"Dice", "axis"});
}

}  // namespace
}  // namespace keratin

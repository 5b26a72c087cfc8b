#include "keratin/layers/add_loss.h"

#include "keratin/graph/functional.h"
#include "keratin/graph/input.h"
#include "keratin/layers/registry.h"
#include "keratin/layers/rnn_testing.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::expect_user_error;

std::shared_ptr<AddLossLayer> add_loss() {
  return std::make_shared<AddLossLayer>(AddLossConfig{}, LayerOptions{"extra"});
}

testing::LayerInputs value_and_loss(const Tensor& x, const Tensor& loss) {
  testing::LayerInputs inputs;
  inputs.positional.emplace_back(Tree<MaskedTensor>::List{MaskedTensor{x}, MaskedTensor{loss}});
  return inputs;
}

TEST(AddLoss, AddsItsInputAndReturnsIt) {
  const auto layer = add_loss();
  const Tensor loss = Tensor::scalar(DType::f32, -2.5);
  const RunResult alone = run_layer(*layer, testing::on(loss));
  EXPECT_EQ(alone.outputs.leaf(), loss);
  ASSERT_EQ(alone.losses.size(), 1U);
  EXPECT_EQ(alone.losses[0].at(0), -2.5);
  const Tensor x = testing::noise({2, 3});
  const RunResult beside = run_layer(*layer, value_and_loss(x, Tensor({1.f, 2.f})));
  EXPECT_EQ(beside.outputs.leaf(), x);
  ASSERT_EQ(beside.losses.size(), 1U);
  EXPECT_EQ(beside.losses[0].at(0), 3) << "summed";
}

// Keras 3 has the penalty of ActivityRegularization only.
TEST(AddLoss, IsSavedAsAPenalty) {
  const auto layer = add_loss();
  const auto x = Input({.shape = {3}, .name = "x"}), l = Input({.shape = {}, .name = "l"});
  layer->call_symbolic({{Symbols::List{x, l}}, {}});
  const testing::Warnings warnings;
  const Json saved = serialize_layer(*layer);
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("AddLoss 'extra' is saved as an activity penalty"),
            std::string::npos);
  EXPECT_EQ(saved.at("class_name"), Json("Functional"));
  EXPECT_EQ(saved.at("config").at("name"), Json("extra"));
  const LayerPtr again = layer_from_json(saved);
  const Tensor value = testing::noise({2, 3});
  const RunResult result = run_layer(*again, value_and_loss(value, Tensor({1.f, 2.f})));
  EXPECT_EQ(result.outputs.leaf(), value);
  ASSERT_EQ(result.losses.size(), 1U);
  EXPECT_EQ(result.losses[0].at(0), 3);
}

TEST(AddLoss, RefusesMoreThanTwoTensors) {
  const Tensor x = testing::noise({2});
  testing::LayerInputs inputs;
  inputs.positional.emplace_back(
      Tree<MaskedTensor>::List{MaskedTensor{x}, MaskedTensor{x}, MaskedTensor{x}});
  expect_user_error([&] { run_layer(*add_loss(), inputs); },
                    "AddLoss 'extra': expected a loss, or a value and a loss, got 3 tensors");
}

TEST(AddMetric, IsAnIdentityThatWarns) {
  const testing::Warnings warnings;
  const LayerPtr layer = layer_from_json(Json::parse(
      R"({"class_name": "AddMetric", "config": {"name": "m", "aggregation": "mean",
          "metric_name": "error"}})"));
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("AddMetric 'm': the metric \"error\" is not reported"),
            std::string::npos);
  const Tensor x = testing::noise({2, 3});
  EXPECT_EQ(run_layer(*layer, testing::on(x)).outputs.leaf(), x);
  EXPECT_EQ(serialize_layer(*layer).at("class_name"), Json("Identity"));
}

}  // namespace
}  // namespace keratin

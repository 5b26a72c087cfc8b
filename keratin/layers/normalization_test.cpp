#include "keratin/layers/preprocessing.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::golden_tensor;

TEST(Normalization, AdaptsAsInKeras) {
  const Json cases = testing::read_golden("layers/Normalization.json");
  int adapted = 0;
  for (const Json& test : cases.as_array()) {
    const Json* data = test.find("adapt");
    if (data == nullptr || data->is_null()) continue;
    SCOPED_TRACE(test.at("name"));
    ++adapted;
    const LayerPtr layer = layer_from_json(test.at("config"));
    static_cast<NormalizationLayer&>(*layer).adapt(golden_tensor(*data));
    const auto weights = layer->weights();
    ASSERT_EQ(weights.size(), test.at("weights").size());
    for (size_t i = 0; i < weights.size(); ++i)
      testing::expect_close(weights[i].value(), golden_tensor(test.at("weights")[i]), 1e-5,
                            weights[i].name());
  }
  EXPECT_GE(adapted, 3);
}

TEST(Normalization, AdaptsToBatchesBySize) {
  const auto whole = Normalization(), parts = Normalization();
  const Tensor data = Tensor::of<double>(DType::f32, {3, 2}, {1, 10, 2, 20, 6, 60});
  whole->adapt(data);
  parts->adapt({Tensor::of<double>(DType::f32, {2, 2}, {1, 10, 2, 20}),
                Tensor::of<double>(DType::f32, {1, 2}, {6, 60})});
  EXPECT_EQ(whole->weights()[0].value(), Tensor::of<double>(DType::f32, {2}, {3, 30}));
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(whole->weights()[i].value(), parts->weights()[i].value());
}

TEST(Normalization, RefusesWhatDoesNotFit) {
  expect_user_error([] { Normalization({.mean = 1.0}); }, {"both `mean` and `variance`"});
  expect_user_error(
      [] {
        Normalization({.mean = Json::Array{1.0, 2.0}, .variance = 1.0});
      },
      {"same shape", "(2,)", "()"});
  expect_user_error(
      [] {
        Normalization({.axis = Dims{}, .mean = Json::Array{1.0}, .variance = Json::Array{1.0}});
      },
      "rank of `mean`");
  expect_user_error([] { Normalization({.axis = 4})(Input({3})); }, {"range", "ndim=2"});
  expect_user_error([] { Normalization()(Input({unknown})); }, {"known shape", "(None, None)"});
  expect_user_error(
      [] {
        const auto layer = Normalization();
        layer(Input({3}));
        layer->adapt(Tensor::zeros(DType::f32, {2, 4}));
      },
      {"(None, 3)", "(2, 4)"});
  expect_user_error([] { Normalization({.mean = 1.0, .variance = 1.0})->adapt(Tensor()); },
                    "nothing to adapt");
}

}  // namespace
}  // namespace keratin

// Tests of Sequential models: built immediately or later, changed, copied.
#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Tensor ones(const Shape& shape) { return Tensor::full(DType::f32, shape, 1); }

TEST(Sequential, ChangesAfterItHasRun) {
  Sequential model({Dense({.units = 4}), Dense({.units = 2})});
  model(Input({3}));
  EXPECT_EQ(Tensor(model.predict(ones({1, 3}))).shape(), Shape({1, 2}));
  model.pop();
  EXPECT_EQ(model.outputs()[0].shape(), Shape({unknown, 4}));
  model.add(Dense({.units = 5}));
  EXPECT_EQ(model.outputs()[0].shape(), Shape({unknown, 5}));
  EXPECT_EQ(model.weights().size(), 4u);
}

// As in Keras, a model that is built by its first input takes its whole shape, with the batch size.
TEST(Sequential, KeepsTheBatchItWasBuiltWith) {
  Sequential model({LSTM({.units = 2, .stateful = true})});
  model(Input({.shape = {3, 1}, .batch_size = 2}));
  EXPECT_EQ(model.inputs()[0].shape(), Shape({2, 3, 1}));
  Sequential dense({Dense({.units = 2})});
  dense(Input({.shape = {3}, .batch_size = 2}));
  EXPECT_EQ(Tensor(dense.predict(ones({5, 3}))).shape(), Shape({5, 2}));
}

TEST(Sequential, HasTheDtypeOfItsFirstLayer) {
  Sequential model({Dense({.units = 2}, LayerOptions{.dtype = DType::f64})});
  model(Input({3}));
  EXPECT_EQ(model.inputs()[0].dtype(), DType::f64);
}

// Without an Input, Keras writes the input shape of a built model to its config.
TEST(Sequential, BuildsWithTheShapeOfItsConfig) {
  const Model model(layer_from_json(Json::parse(
      R"({"class_name": "Sequential", "config": {"name": "s", "build_input_shape": [2, 3],
          "layers": [{"class_name": "Dense", "config": {"name": "d", "units": 4}}]}})")));
  EXPECT_EQ(model.outputs()[0].shape(), Shape({2, 4}));
}

Json layers_of_keras2(const std::string& second) {
  return Json::parse(
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
           {"class_name": "Masking", "config": {"name": "m", "batch_input_shape": [null, 4, 2],
             "dtype": "float64"}}, )" +
      second + "]}}");
}

TEST(Sequential, KeepsTheDialectOfKeras2) {
  const Json json = layers_of_keras2(
      R"({"class_name": "LSTM", "config": {"name": "l", "units": 2, "dtype": "float64"}})");
  const Model model(layer_from_json(json, {}, Dialect::keras2));
  EXPECT_EQ(model.inputs()[0].dtype(), DType::f64);
  EXPECT_EQ(model.graph().dialect(), Dialect::keras2);
  EXPECT_EQ(Model(model.layer()->fresh_copy()).dialect(), Dialect::keras2);
}

TEST(Sequential, DropsMasksInKeras2) {
  const Json json = layers_of_keras2(
      R"({"class_name": "Conv1D", "config": {"name": "c", "filters": 2, "kernel_size": 1}})");
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2}) {
    std::vector<std::string> warnings;
    const auto handler = set_warning_handler([&](const std::string& w) { warnings.push_back(w); });
    EXPECT_NO_THROW(Model(layer_from_json(json, {}, dialect)).graph());
    set_warning_handler(handler);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(
        warnings[0].starts_with("Layer 'c' (of type Conv1D) was passed an input with a mask"))
        << warnings[0];
  }
}

}  // namespace
}  // namespace keratin

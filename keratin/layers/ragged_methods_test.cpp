#include "keratin/layers/ragged_methods.h"

#include <gtest/gtest.h>

#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/model/saving.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_user_error;

// A model as Keras 2 saves it: x.to_tensor(…) of a ragged input, then a sum over each row.
Model with_method(const std::string& arguments, const std::string& size = "null") {
  return model_from_json(R"({"class_name": "Functional", "keras_version": "2.15.0", "config": {
    "name": "m", "trainable": true, "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [], "config": {"name": "x",
        "batch_input_shape": [null, )" +
                         size + R"(], "dtype": "float32", "sparse": false,
        "ragged": true}},
      {"module": "tf_keras.src.layers.core.tf_op_layer", "class_name": "InstanceMethod",
       "config": {"name": "input.to_tensor", "trainable": true, "dtype": "float32",
                  "attr_name": "to_tensor"},
       "registered_name": "InstanceMethod", "name": "input.to_tensor",
       "inbound_nodes": [["x", 0, 0, )" +
                         arguments + R"(]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["input.to_tensor", 0, 0]]}})");
}

TEST(RaggedMethods, RowsArePaddedAlready) {
  const testing::Warnings warnings;
  const Model model = with_method(R"({"args": [], "kwargs": {}})");
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("InputLayer 'x': its tensors are ragged in Keras"),
            std::string::npos);
  const Tensor x({{1.F, 2.F}, {3.F, 0.F}});
  EXPECT_EQ(model.predict(x).leaf(), x);
  const Model again = model_from_json(model.to_json());
  EXPECT_EQ(again.layers()[1]->class_name(), "Identity");
  EXPECT_EQ(again.predict(x).leaf(), x);
}

TEST(RaggedMethods, AShapeCutsAndPads) {
  const testing::Warnings warnings;
  const Tensor x({{1.F, 2.F}, {3.F, 0.F}});
  EXPECT_EQ(with_method(R"({"args": [], "kwargs": {"default_value": 7, "shape": [null, 3]}})")
                .predict(x)
                .leaf(),
            Tensor({{1.F, 2.F, 7.F}, {3.F, 0.F, 7.F}}));
  const Model cut = with_method(R"({"args": [null, null, [null, 1]], "kwargs": {}})");
  EXPECT_EQ(cut.predict(x).leaf(), Tensor({{1.F}, {3.F}}));
  const size_t before = warnings.messages.size();
  EXPECT_NE(cut.to_json().find("InstanceMethod"), std::string::npos);
  ASSERT_EQ(warnings.messages.size(), before + 1);
  EXPECT_NE(warnings.messages.back().find("which Keras 3 cannot open"), std::string::npos);
  expect_user_error([] { with_method(R"({"args": [], "kwargs": {"shape": [null]}})", "2"); },
                    "expected a shape of 2 dimensions");
}

TEST(RaggedMethods, FromTensorIsTheTensor) {
  const LayerPtr layer = layer_from_json(Json::parse(
      R"({"class_name": "ClassMethod", "config": {"name": "it", "cls_symbol": "RaggedTensor",
          "method_name": "from_tensor"}})"));
  EXPECT_EQ(serialize_layer(*layer).at("class_name"), Json("Identity"));
  const Tensor x({{1.F, 2.F}, {3.F, 0.F}});
  Arguments<MaskedTensor> arguments;
  arguments.positional.emplace_back(Tree<MaskedTensor>::List{MaskedTensor{x}});
  EXPECT_EQ(run_layer(*layer, arguments).outputs.leaf(), x);
  arguments.named.emplace("kwargs", Json(Json::Object{{"padding", 0}}));
  expect_user_error([&] { run_layer(*layer, arguments); },
                    {"ClassMethod 'it'", "the argument 'padding' of from_tensor"});
}

TEST(RaggedMethods, OthersAreRefusedByName) {
  const auto open = [](const char* class_name, Json config) {
    config["name"] = "it";
    layer_from_json(Json::Object{{"class_name", class_name}, {"config", config}});
  };
  expect_user_error(
      [&] {
        open("InstanceProperty", Json::Object{{"attr_name", "flat_values"}});
      },
      "InstanceProperty 'it': the property 'flat_values' is of ragged or sparse tensors, which "
      "Keratin does not have");
  expect_user_error(
      [&] {
        open("InstanceMethod", Json::Object{{"attr_name", "row_lengths"}});
      },
      {"InstanceMethod 'it'", "the method 'row_lengths'"});
  expect_user_error(
      [&] {
        open("ClassMethod",
             Json::Object{{"cls_symbol", "RaggedTensor"}, {"method_name", "from_row_splits"}});
      },
      {"ClassMethod 'it'", "the class method 'from_row_splits' of tf.RaggedTensor"});
}

}  // namespace
}  // namespace keratin

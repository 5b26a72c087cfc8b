#include "keratin/layers/tf_operation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "keratin/base/text.h"
#include "keratin/layers/registry.h"
#include "keratin/layers/tf_functions.h"
#include "keratin/layers/tf_nodes.h"
#include "keratin/model/clone.h"
#include "keratin/model/program.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::golden_structure;

Model keras2_model(const Json& config) {
  return Model(layer_from_json(config, {}, Dialect::keras2));
}

// Keras 3 has no TFOpLambda: files hold operations that compute the same.
TEST(TfOperation, AreSavedAsOperations) {
  const Json cases = testing::read_golden("operations.keras2.json");
  size_t as_it_is = 0;
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("name").as_string());
    const testing::Warnings warnings;
    const Json saved = serialize_layer(*keras2_model(test.at("config")).layer());
    if (saved.dump().find("OpLambda") != std::string::npos) {
      ++as_it_is;
      ASSERT_EQ(warnings.messages.size(), 1u);
      EXPECT_NE(warnings.messages[0].find("which Keras 3 cannot open"), std::string::npos);
      continue;
    }
    const auto inputs = golden_structure(test.at("inputs"));
    const auto ours = Model(layer_from_json(saved)).predict(inputs).flat();
    const auto theirs = golden_structure(test.at("outputs")).flat();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      ASSERT_EQ(ours[i].shape(), theirs[i].shape());
      for (int64_t k = 0; k < ours[i].count(); ++k) {
        const double a = ours[i].at(k), b = theirs[i].at(k);
        ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b)) ||
                    std::abs(a - b) <= 1e-5 * (1 + std::abs(b)))
            << a << " and " << b;
      }
    }
  }
  EXPECT_LE(as_it_is, 1u);  // linalg.band_part
}

// The cases of tests/golden/operations.keras2.json: functions of TensorFlow on symbolic tensors.
TEST(TfOperation, ComputesWhatTensorFlowDoes) {
  const Json cases = testing::read_golden("operations.keras2.json");
  ASSERT_GE(cases.size(), 170u);
  std::set<std::string> seen;
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("name").as_string());
    for (const Json& layer : test.at("config").at("config").at("layers").as_array())
      if (const Json* function = layer.at("config").find("function"))
        seen.insert(function->as_string());
    try {
      const Model model = keras2_model(test.at("config"));
      const Tree<Tensor> inputs = golden_structure(test.at("inputs"));
      const auto got = model.predict(inputs).flat();
      const auto wanted = golden_structure(test.at("outputs")).flat();
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i)
        testing::expect_close(got[i], wanted[i], 1e-5, text("output ", i));
      // Clones and saved files compute the same.
      const auto cloned = clone_model(model).predict(inputs).flat();
      const Json written =
          Json::Object{{"class_name", "Functional"}, {"config", model.get_config()}};
      const auto reread = keras2_model(written).predict(inputs).flat();
      for (size_t i = 0; i < got.size(); ++i) {
        testing::expect_close(cloned[i], got[i], 0, "clone");
        testing::expect_close(reread[i], got[i], 0, "read again");
      }
    } catch (const UserError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  for (const std::string_view name : tf_function_names())
    EXPECT_TRUE(seen.contains(std::string(name)) || seen.contains(text("compat.v1.", name)))
        << name << " has no case";
}

TEST(TfOperation, TableIsSorted) {
  const auto names = tf_function_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

Json layer_named(const char* symbol) {
  return Json::Object{{"class_name", "TFOpLambda"},
                      {"config", Json::Object{{"name", "op"}, {"function", symbol}}}};
}

TEST(TfOperation, RefusesUnknownFunctionsAndArguments) {
  expect_user_error([] { layer_from_json(layer_named("signal.fft")); },
                    {"TFOpLambda 'op'", "tf.signal.fft", "not supported"});
  const Json cases = testing::read_golden("operations.keras2.json");
  const auto test =
      std::find_if(cases.as_array().begin(), cases.as_array().end(),
                   [](const Json& t) { return t.at("name") == Json("tf.cumsum(x, axis=1)"); });
  std::string config = test->at("config").dump();
  const std::string axis = "\"axis\": 1", more = "\"axis\": 1, \"reverse\": true";
  ASSERT_NE(config.find(axis), std::string::npos);
  config.replace(config.find(axis), axis.size(), more);
  expect_user_error([&] { keras2_model(Json::parse(config)); }, {"'reverse'", "tf.math.cumsum"});
}

// NodeDefs as TensorFlow 2.3 writes them, put together by hand; tests/golden/old has genuine ones.
LayerPtr node_layer(const std::string& op, const std::string& attributes = "",
                    const std::string& constants = "") {
  return layer_from_json(Json::parse(
      R"({"class_name": "TensorFlowOpLayer", "config": {"name": "it", "node_def": {"name": "it",
          "op": ")" +
      op + R"(", "attr": {"T": {"type": "DT_FLOAT"})" + attributes + R"(}}, "constants": {)" +
      constants + "}}}"));
}

std::vector<Tensor> results_of_node(const LayerPtr& layer, const std::vector<Tensor>& inputs) {
  Tree<MaskedTensor>::List list;
  for (const Tensor& input : inputs) list.emplace_back(MaskedTensor{input});
  Arguments<MaskedTensor> arguments;
  arguments.positional.emplace_back(std::move(list));
  return run_layer(*layer, arguments).outputs.flat();
}

TEST(TfNodes, TableIsSortedAndNamesFunctions) {
  const auto names = tf_node_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string_view name : names)
    EXPECT_NE(find_tf_function(find_tf_node(name)->symbol), nullptr) << name;
}

TEST(TfNodes, PutConstantsInTheirPlaces) {
  const Tensor x({1.f, 2.f, 4.f});
  EXPECT_EQ(results_of_node(node_layer("Sub", "", R"("0": 3.0)"), {x})[0],
            Tensor({2.f, 1.f, -1.f}));
  EXPECT_EQ(results_of_node(node_layer("Sub", "", R"("1": 3.0)"), {x})[0],
            Tensor({-2.f, -1.f, 1.f}));
  EXPECT_EQ(results_of_node(node_layer("RealDiv", "", R"("1": [1.0, 2.0, 8.0])"), {x})[0],
            Tensor({1.f, 1.f, 0.5f}));
  const auto parts =
      results_of_node(node_layer("Split", R"(, "num_split": {"i": "3"})", R"("0": 0)"), {x});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2], Tensor({4.f}));
  EXPECT_EQ(results_of_node(node_layer("ConcatV2", R"(, "N": {"i": "2"})", R"("2": 0)"), {x, x})[0],
            Tensor({1.f, 2.f, 4.f, 1.f, 2.f, 4.f}));
}

TEST(TfNodes, CutByMasks) {
  const Tensor x({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const auto cut = [&](const std::string& masks) {
    return results_of_node(
        node_layer("StridedSlice", masks, R"("1": [1, 0], "2": [2, 2], "3": [1, 1])"), {x})[0];
  };
  EXPECT_EQ(cut(""), Tensor({{4.f, 5.f}}));
  EXPECT_EQ(cut(R"(, "shrink_axis_mask": {"i": "1"}, "end_mask": {"i": "2"})"),
            Tensor({4.f, 5.f, 6.f}));
  EXPECT_EQ(cut(R"(, "begin_mask": {"i": "1"})").shape(), Shape({2, 2}));
  EXPECT_EQ(cut(R"(, "ellipsis_mask": {"i": "1"})").shape(), Shape({2, 2}));
  EXPECT_EQ(cut(R"(, "new_axis_mask": {"i": "1"})").shape(), Shape({1, 2, 3}));
}

TEST(TfNodes, RefuseWhatKeratinLacks) {
  expect_user_error([] { node_layer("FFT"); }, {"TensorFlowOpLayer 'tf_op_layer_it'",
                                                "the TensorFlow op FFT is not supported"});
  expect_user_error([] { node_layer("Shape"); }, {"Shape is not supported", "before they run"});
  expect_user_error(
      [] {
        results_of_node(node_layer("Square"), {Tensor({1.f}), Tensor({1.f})});
      },
      {"tf_op_layer_it", "Square: expected 1 inputs, got 2"});
  expect_user_error([] { results_of_node(node_layer("Square", "", R"("7": 1)"), {Tensor({1.f})}); },
                    "Square: there is a constant for input 7, but only 1 inputs come before it");
  expect_user_error([] { node_layer("Add", "", R"("x": 1)"); }, "expected an integer");
  expect_user_error(
      [] {
        results_of_node(node_layer("BiasAdd", R"(, "data_format": {"s": "TkNIVw=="})"),
                        {Tensor({1.f}), Tensor({1.f})});
      },
      {"data_format", "not supported"});
}

}  // namespace
}  // namespace keratin

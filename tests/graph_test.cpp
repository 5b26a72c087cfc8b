// Tests of the layer graph: structures, names, sub-models, training, and errors.
#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/model/clone.h"
#include "keratin/model/model.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::random_tensor;

Tensor data(const Shape& shape) { return random_tensor({DType::f32, shape}, -1, 1, 3); }

TEST(Graph, RefusesADisconnectedModel) {
  const auto a = Input({.shape = {2}, .name = "a"}), b = Input({.shape = {2}, .name = "b"});
  const Symbols sum = Lambda([](const Values& x) { return x[0] + x[1]; }, "sum")({a, b});
  expect_user_error(
      [&] { Model({.inputs = a, .outputs = sum}); },
      {"Graph disconnected: cannot find parent for tensor", "name=b", "at operation 'sum'"});
}

TEST(Graph, RefusesANameUsedTwice) {
  const auto x = Input({2});
  const Symbols y = Dense({.units = 2}, "q")(Dense({.units = 2}, "q")(x));
  expect_user_error([&] { Model({.inputs = x, .outputs = y}); },
                    "The name \"q\" is used 2 times in the model. All operation names should be "
                    "unique.");
}

TEST(Graph, RefusesModelsWithoutInputsOrOutputs) {
  const auto x = Input({2});
  expect_user_error([&] { Model({.inputs = Symbols::List{}, .outputs = x}); },
                    "`inputs` argument cannot be empty");
}

TEST(Graph, NamesLayersAsKerasDoes) {
  clear_session();
  const auto x = Input({2});
  const Dense first({.units = 2}), second({.units = 2});
  EXPECT_EQ(first->name(), "dense");
  EXPECT_EQ(second->name(), "dense_1");
  EXPECT_EQ(x.layer()->name(), "input_layer");
  first(x);
  EXPECT_EQ(first->weights()[0].path(), "dense/kernel");
  expect_user_error([] { Dense({.units = 1}, "a/b"); },
                    "cannot contain character `/`. Received: name=a/b");
}

TEST(Graph, FindsLayers) {
  const auto x = Input({.shape = {2}, .name = "x"});
  const Model model({.inputs = x, .outputs = Dense({.units = 2}, "d")(x)});
  EXPECT_EQ(model.get_layer("d")->class_name(), "Dense");
  EXPECT_EQ(model.get_layer(0)->name(), "x");
  expect_user_error([&] { model.get_layer("nope"); },
                    "No such layer: nope. Existing layers are: ['x', 'd'].");
  expect_user_error([&] { model.get_layer(7); },
                    "Was asked to retrieve layer at index 7 but model only has 2 layers.");
}

TEST(Graph, RunsSubgraphs) {
  const auto x = Input({3});
  const Symbols middle = Dense({.units = 4}, "first")(x);
  const Symbols y = Dense({.units = 2}, "second")(middle);
  const Model whole({.inputs = x, .outputs = y}), head({.inputs = x, .outputs = middle}),
      tail({.inputs = middle, .outputs = y});
  const Tensor out = whole.predict(data({2, 3}));
  const Tensor chained = tail.predict(head.predict(data({2, 3})));
  EXPECT_EQ(out, chained);
  EXPECT_TRUE(tail.layers()[0]->name().ends_with("CLONE"));
}

// The call that made an input is not run, so its other outputs are missing.
TEST(Graph, RefusesSubgraphsWithMissingInputs) {
  const Symbols states = LSTM({.units = 2, .return_state = true}, "lstm")(Input({3, 2}));
  const Symbols sum = Add()({states[0], states[1]});
  expect_user_error([&] { Model({.inputs = states[0], .outputs = sum}); },
                    {"`inputs` not connected to `outputs`", "'lstm'", "does not come from them"});
}

TEST(Graph, TakesInputsByNameAndStructure) {
  const auto a = Input({.shape = {2}, .name = "a"}), b = Input({.shape = {2}, .name = "b"});
  const Symbols y = Lambda([](const Values& x) { return x[0] - x[1]; })({a, b});
  const Model model({.inputs = {b, a}, .outputs = y});
  const Tensor one = data({2, 2}), two = Tensor::zeros(DType::f32, {2, 2});
  using Dict = Tree<Tensor>::Dict;
  const Tensor by_name = model.predict(Dict{{"a", one}, {"b", two}});
  EXPECT_EQ(by_name, one);
  const Tensor by_order = model.predict(Tree<Tensor>::List{two, one});
  EXPECT_EQ(by_order, one);
  expect_user_error([&] { model.predict(one); }, {"expects 2 named input(s)", "received 1"});
  expect_user_error(
      [&] {
        model.predict(Dict{{"a", one}});
      },
      {"Missing data for input \"b\"", "keys ['a']", "keys: ['b', 'a']"});
  expect_user_error(
      [&] {
        model.predict(Tree<Tensor>::List{data({2, 3}), one});
      },
      {"name 'b'", "expected shape=(None, 2)", "found shape=(2, 3)"});
}

TEST(Graph, AddsOrDropsATrailingOne) {
  const auto x = Input({.shape = {1}, .name = "x"});
  const Model model({.inputs = x, .outputs = Dense({.units = 2})(x)});
  const Tensor flat = model.predict(data({4}));
  EXPECT_EQ(flat.shape(), Shape({4, 2}));
}

TEST(Graph, PassesTrainingToEveryLayer) {
  const auto x = Input({1});
  const auto grows = [](const Call& c) { return c.training() ? c.input() + 1.0 : c.input(); };
  const Symbols y = Lambda(grows)(x);
  const Symbols always = Lambda(grows)(x, {{"training", true}});
  const Model inner({.inputs = x, .outputs = {y, always}});
  const auto z = Input({1});
  const Model outer({.inputs = z, .outputs = inner(z)});
  const Tensor zero = Tensor::zeros(DType::f32, {1, 1});
  const auto tested = outer.predict(zero), trained = outer.predict(zero, {.training = true});
  EXPECT_EQ(Tensor(tested[0]).at(0), 0);
  EXPECT_EQ(Tensor(tested[1]).at(0), 1) << "expected the explicit flag to win";
  EXPECT_EQ(Tensor(trained[0]).at(0), 1);
}

TEST(Graph, KeepsTheTrainingFlagOfACallOfAModel) {
  const auto x = Input({1}), z = Input({1});
  const auto grows = [](const Call& c) { return c.training() ? c.input() + 1.0 : c.input(); };
  const Model inner({.inputs = x, .outputs = Lambda(grows)(x)});
  const Model outer({.inputs = z, .outputs = inner(z, {{"training", true}})});
  EXPECT_EQ(Tensor(outer.predict(Tensor::zeros(DType::f32, {1, 1}))).at(0), 1);
}

// For fine-tuning: the flag of a call stays while the outer model trains.
TEST(Graph, KeepsTheTrainingFlagOfACallInFit) {
  const auto x = Input({2}), z = Input({2});
  const BatchNormalization norm;
  const Model base({.inputs = x, .outputs = norm(x)});
  const Tensor batch = Tensor::of<float>(DType::f32, {2, 2}, {1, 2, 3, 6});
  for (const std::optional<bool> flag : {std::optional<bool>(), std::optional(false)}) {
    const Symbols y = flag ? base(z, {{"training", *flag}}) : base(z);
    Model model({.inputs = z, .outputs = Dense({.units = 1})(y)});
    model.compile({.optimizer = SGD(), .loss = "mse"});
    const auto mean = [&] { return base.get_weights()[2].at(0); };
    const double before = mean();
    model.fit(batch, Tensor::zeros(DType::f32, {2, 1}), {.verbose = 0});
    EXPECT_EQ(mean() != before, !flag) << "expected training to reach calls without a flag";
  }
}

// Keras writes a flag of the caller like its own default, so only `true` is kept.
TEST(Graph, ReadsTheTrainingFlagAsKerasDoes) {
  const auto x = Input({2});
  const Tensor batch = Tensor::of<float>(DType::f32, {2, 2}, {1, 2, 3, 6});
  for (const bool flag : {false, true}) {
    const BatchNormalization norm;
    const Model model({.inputs = x, .outputs = norm(x, {{"training", flag}})});
    const Model read(layer_from_json(Json::parse(model.to_json())));
    EXPECT_NEAR(Tensor(read.predict(batch)).at(0), flag ? -0.9995004 : 0.9995004, 1e-5);
    EXPECT_NEAR(Tensor(read.predict(batch, {.training = true})).at(0), -0.9995004, 1e-5);
  }
}

TEST(Graph, TakesDataOfOtherTypes) {
  const auto x = Input({2});
  const Model model({.inputs = x, .outputs = x[{Slice{}, 1}]});
  const Tensor out = model.predict(Tensor::of<int32_t>(DType::i32, {1, 2}, {3, 4}));
  EXPECT_EQ(out, Tensor::of<float>(DType::f32, {1}, {4}));
}

// A model and its nested model share a layer.
TEST(Graph, ListsSharedWeightsOnce) {
  const Dense shared({.units = 2});
  const auto x = Input({2}), y = Input({2});
  const Model inner({.inputs = x, .outputs = shared(x)});
  EXPECT_EQ(Model({.inputs = y, .outputs = shared(inner(y))}).weights().size(), 2u);
}

TEST(Graph, FreezesSublayers) {
  const auto x = Input({2});
  const Dense first({.units = 2}), second({.units = 2});
  Model model({.inputs = x, .outputs = second(first(x))});
  const auto counts = [&] {
    return std::pair(model.layer()->trainable_weights().size(),
                     model.layer()->non_trainable_weights().size());
  };
  first->set_trainable(false);
  EXPECT_EQ(counts(), std::pair(2ul, 2ul));
  model.set_trainable(false);
  EXPECT_EQ(counts(), std::pair(0ul, 4ul));
  EXPECT_TRUE(second->trainable_weights().empty());
  second->set_trainable(true);
  EXPECT_EQ(counts(), std::pair(0ul, 4ul)) << "expected a frozen outer model to freeze its layers";
  EXPECT_EQ(second->trainable_weights().size(), 2u);
  model.set_trainable(true);
  EXPECT_EQ(counts(), std::pair(4ul, 0ul));
}

// The states are float32, but the layer computes in another type.
TEST(Graph, UpdatesVariablesInTheirOwnType) {
  const LSTM layer({.units = 2, .stateful = true}, LayerOptions{.dtype = "mixed_float16"});
  const auto x = Input({.shape = {3, 1}, .batch_size = 2});
  const Model model({.inputs = x, .outputs = layer(x)});
  model.predict(data({2, 3, 1}));
  EXPECT_EQ(layer->states()[0].value().dtype(), DType::f32);
  EXPECT_NE(layer->states()[0].value().at(0), 0);
}

TEST(Graph, KeepsOneMaskPerOutputByConstruction) {
  // The error names the layer.
  struct Broken final : Layer {
    Broken() : Layer("Broken", {}) {}
    std::string_view class_name() const override { return "Broken"; }
    LayerPtr fresh_copy() const override { return std::make_shared<Broken>(); }
    Results call(const Call& c) const override { return Values{c.input(), c.input()}; }
    Masks compute_mask(const Call&, size_t) const override { return Masks(1); }
  };
  const auto layer = std::make_shared<Broken>();
  EXPECT_THROW(
      {
        try {
          (*layer)(Input({2}));
        } catch (const InternalError& error) {
          EXPECT_NE(
              std::string(error.what()).find("'broken' (Broken): compute_mask gave 1 masks for 2"),
              std::string::npos)
              << error.what();
          throw;
        }
      },
      InternalError);
}

TEST(Graph, NamesAMissingClass) {
  expect_user_error(
      [] {
        layer_from_json(Json::parse(
            R"({"module": "my.lib", "class_name": "Odd", "config": {"name": "odd_1"}})"));
      },
      {"'Odd'", "my.lib", "odd_1", "register"});
}

TEST(Graph, RefusesConfigsThatAreNotGraphs) {
  const std::string input =
      R"({"class_name": "InputLayer", "config": {"batch_shape": [null, 2], "name": "x"}, "name": "x",
          "inbound_nodes": []})";
  const auto model = [&](const std::string& nodes, const std::string& output) {
    return Json::parse(
        R"({"class_name": "Functional", "config": {"name": "m", "layers": [)" + input +
        R"(, {"class_name": "Dense", "config": {"name": "d", "units": 2}, "name": "d",
                       "inbound_nodes": )" +
        nodes + R"(}], "input_layers": ["x", 0, 0],
                       "output_layers": )" +
        output + "}}");
  };
  const auto call = [](const char* layer, int node) {
    return text(R"([{"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": [")",
                layer, R"(", )", node, R"(, 0]}}], "kwargs": {}}])");
  };
  EXPECT_NO_THROW(layer_from_json(model(call("x", 0), R"(["d", 0, 0])")));
  expect_user_error([&] { layer_from_json(model(call("d", 0), R"(["d", 0, 0])")); },
                    "either has loops or disconnected nodes");
  expect_user_error([&] { layer_from_json(model(call("y", 0), R"(["d", 0, 0])")); },
                    "There is no layer named 'y'");
  expect_user_error([&] { layer_from_json(model(call("x", 3), R"(["d", 0, 0])")); },
                    "'x' has no call number 3");
  expect_user_error([&] { layer_from_json(model(call("x", 0), R"(["d", 0, 5])")); },
                    "has no output number 5");
}

TEST(Graph, ReadsKeras2Configs) {
  const Json config = Json::parse(R"({"class_name": "Model", "config": {"name": "m", "layers": [
    {"name": "a", "class_name": "InputLayer", "config": {"batch_input_shape": [null, 2],
      "dtype": "float32", "sparse": false, "name": "a"}, "inbound_nodes": []},
    {"name": "inner", "class_name": "Model", "config": {"name": "inner", "layers": [
      {"name": "i", "class_name": "InputLayer", "config": {"batch_input_shape": [null, 2],
        "dtype": "float32", "sparse": false, "name": "i"}, "inbound_nodes": []},
      {"name": "d", "class_name": "Dense", "config": {"name": "d", "units": 2, "dtype": "float32"},
        "inbound_nodes": [[["i", 0, 0, {}]]]}],
      "input_layers": [["i", 0, 0]], "output_layers": [["d", 0, 0]]},
     "inbound_nodes": [[["a", 0, 0, {}]], [["inner", 1, 0, {}]]]}],
    "input_layers": [["a", 0, 0]], "output_layers": [["inner", 2, 0]]}})");
  const Model model(layer_from_json(config));
  EXPECT_EQ(model.get_layer("inner")->call_count(), 2u);
  EXPECT_EQ(Tensor(model.predict(data({3, 2}))).shape(), Shape({3, 2}));
}

// The output is the first call of a nested model, which other files of Keras 2 count from one. If
// keyword arguments differ between the inputs of a call, the last ones are taken.
TEST(Graph, ReadsOddKeras2Configs) {
  const Json config = Json::parse(R"({"class_name": "Model", "config": {"name": "m", "layers": [
    {"name": "a", "class_name": "InputLayer", "config": {"batch_input_shape": [null, 2],
      "dtype": "float32", "name": "a"}, "inbound_nodes": []},
    {"name": "sum", "class_name": "Add", "config": {"name": "sum"},
      "inbound_nodes": [[["a", 0, 0, {"training": true}], ["a", 0, 0, {}]]]},
    {"name": "inner", "class_name": "Sequential", "config": {"name": "inner", "layers": [
      {"class_name": "Dense", "config": {"name": "d", "units": 3,
        "batch_input_shape": [null, 2]}}]},
     "inbound_nodes": [[["sum", 0, 0, {}]]]}],
    "input_layers": [["a", 0, 0]], "output_layers": [["inner", 0, 0]]}})");
  const Model model(layer_from_json(config));
  EXPECT_EQ(model.outputs()[0].shape(), Shape({unknown, 3}));
  EXPECT_TRUE(model.get_layer("sum")->inbound_nodes()[0]->arguments().named.empty());
}

}  // namespace
}  // namespace keratin

// Arguments of calls, by position or by name, from C++ and from files.
#include <gtest/gtest.h>

#include "keratin/graph/functional.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;

SymbolicTensor sequence() { return Input({.shape = {4, 3}, .name = "x"}); }
SymbolicTensor steps() { return Input({.shape = {4}, .dtype = DType::boolean, .name = "mask"}); }

TEST(CallArguments, RefusesUnknownArguments) {
  const auto x = sequence(), mask = steps();
  expect_user_error([&] { Dense({.units = 2}, "d")(x, Symbols(), Symbols(3)); },
                    "Dense 'd': its call takes (inputs, training), got 3 positional arguments");
  expect_user_error(
      [&] {
        Dense({.units = 2}, "d")(x, {{"mask", mask}});
      },
      "Dense 'd': its call takes (inputs, training), got an unexpected argument "
      "'mask'");
  expect_user_error([&] { GlobalAveragePooling1D({}, "g")(x, mask, mask); },
                    "GlobalAveragePooling1D 'g': its call takes (inputs, mask), got 3");
  expect_user_error(
      [&] {
        LSTM({.units = 2}, "l")(x, {{"constants", mask}});
      },
      "LSTM 'l': its call takes (sequences, initial_state, mask, training), got an "
      "unexpected argument 'constants'");
  expect_user_error(
      [&] {
        Dropout({.rate = 0.5}, "o").ptr()->call_symbolic({{x, true}, {{"training", true}}});
      },
      "got multiple values for 'training'");
}

// Each layer lists what Keras's `call` takes, in the same order.
// Dense(x, y) takes the second one for `training`.
TEST(CallArguments, RefusesATensorAsAFlag) {
  const Dense dense({.units = 2}, "d");
  expect_user_error([&] { dense(sequence(), sequence()); },
                    "Dense 'd': the argument 'training' of its call must be true or false, got a "
                    "tensor");
  expect_user_error(
      [&] {
        dense(sequence(), {{"training", "yes"}});
      },
      "must be true or false, got \"yes\"");
}

TEST(CallArguments, HaveKerasNames) {
  const Json keras = testing::read_golden("call_arguments.json");
  for (const auto& [name, arguments] : keras.as_object()) {
    if (name == "Lambda") continue;  // its function may take any
    const Json config =
        testing::read_golden("layers/" + name + ".json").as_array().front().at("config");
    std::vector<std::string> expected;
    for (const Json& argument : arguments.as_array()) expected.push_back(argument.as_string());
    std::vector<std::string> listed;
    for (const std::string_view argument : layer_from_json(config)->call_arguments())
      if (argument != "drawn") listed.emplace_back(argument);  // of a cell, by its layer
    EXPECT_EQ(listed, expected) << name;
  }
}

// The first tensors too can be passed by name.
TEST(CallArguments, TakeTensorsByPositionOrByName) {
  const auto x = sequence();
  const auto named = Dense({.units = 2}).ptr()->call_symbolic({{}, {{"inputs", x}}});
  EXPECT_EQ(SymbolicTensor(named).shape(), Shape({unknown, 4, 2}));
  expect_user_error(
      [&] {
        Dense({.units = 2}).ptr()->call_symbolic({{x}, {{"inputs", x}}});
      },
      "got multiple values for 'inputs'");
}

// Arguments are bound anew in each run; the node, and so the file, keeps them as they were passed.
TEST(CallArguments, AreSavedByPositionOrByNameAsPassed) {
  const auto x = sequence(), mask = steps();
  const auto h = Input({.shape = {2}, .name = "h"});
  const LSTM by_position({.units = 2}, "by_position"), by_name({.units = 2}, "by_name");
  const Symbols states = Symbols::List{h, h};
  const auto model =
      FunctionalLayer::make(Symbols::List{x, h, mask},
                            Symbols::List{by_position(x, Symbols(), mask),
                                          by_name(x, {{"initial_state", states}, {"mask", mask}})});
  const Json config = model->get_config();
  for (const Json& layer : config.at("layers").as_array()) {
    if (layer.at("name") == Json("by_position")) {
      const Json& call = layer.at("inbound_nodes")[0];
      ASSERT_EQ(call.at("args").size(), 3U);
      EXPECT_TRUE(call.at("args")[1].is_null());
      EXPECT_EQ(call.at("kwargs").size(), 0U);
    }
    if (layer.at("name") == Json("by_name")) {
      const Json& call = layer.at("inbound_nodes")[0];
      EXPECT_EQ(call.at("args").size(), 1U);
      EXPECT_EQ(call.at("kwargs").at("initial_state").size(), 2U);
      EXPECT_TRUE(call.at("kwargs").contains("mask"));
    }
  }
  const auto again = layer_from_json(serialize_layer(*model));
  EXPECT_EQ(again->get_config(), config);
}

// A custom layer without a list of arguments gets them as they were passed.
struct OpenConfig {
  static constexpr std::string_view keras_name = "Open";
  static constexpr auto fields = field_list();
};
class OpenLayer final : public LayerOf<OpenLayer, OpenConfig> {
 public:
  OpenLayer(OpenConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  Results call(const Call& c) const override {
    trained = c.training();
    return c.input() * c.argument(1).constant().as_double() *
           c.argument("by").constant().as_double();
  }
  mutable bool trained = false;
};

TEST(CallArguments, ReachCustomLayersAsPassed) {
  const auto layer = std::make_shared<OpenLayer>(OpenConfig{}, LayerOptions{});
  layer->call_symbolic({{sequence(), 2.0}, {{"by", 3.0}, {"training", true}}});
  EXPECT_TRUE(layer->trained);
}

// `training` can be passed as a constant by position.
TEST(CallArguments, TakeTrainingByPosition) {
  const auto seeds_moved = [](const Symbols& training) {
    const Dropout dropout({.rate = 0.5, .seed = 1});
    Module module;
    Tracer tracer(module, /*training=*/false);
    const Traced x{module.input({DType::f32, {2, 3}}, "x")};
    Arguments<Traced> arguments{{x, Tree<Traced>(training.constant())}, {}};
    tracer.invoke(*dropout, std::move(arguments));
    return tracer.changed().size();
  };
  EXPECT_EQ(seeds_moved(true), 1U);
  EXPECT_EQ(seeds_moved(1), 1U);
  EXPECT_EQ(seeds_moved(false), 0U);
}

// Python's numbers for booleans, its booleans for numbers, and whole floats for integers.
TEST(Configs, ConvertNumbersAndBoolsAsPython) {
  const auto dense = [](const std::string& more) {
    const auto layer = layer_from_json(
        Json::parse(R"({"class_name": "Dense", "config": {"units": 3.0, )" + more + "}}"));
    layer->ensure_built({{2, 4}});
    return layer;
  };
  EXPECT_EQ(dense(R"("use_bias": 0, "trainable": 1)")->weights().size(), 1U);
  EXPECT_EQ(dense(R"("use_bias": 1, "trainable": 0)")->weights().size(), 2U);
  EXPECT_FALSE(dense(R"("trainable": 0)")->trainable());
  EXPECT_EQ(dense(R"("use_bias": null)")->weights().size(), 1U);
  EXPECT_EQ(dense(R"("use_bias": 0)")->get_config().at("use_bias"), Json(false));
  expect_user_error([&] { dense(R"("use_bias": "yes")"); }, {"Dense", "use_bias", "yes"});
  const auto dropout =
      layer_from_json(Json::parse(R"({"class_name": "Dropout", "config": {"rate": false}})"));
  EXPECT_EQ(dropout->get_config().at("rate"), Json(0.0));
}

// In Keras 2 the name of an activation layer is an activation; objects have several forms.
TEST(Activations, AreReadAsFunctionsOrLayers) {
  const auto activation_of = [](const std::string& json) {
    const auto layer = layer_from_json(Json::parse(
        R"({"class_name": "Dense", "config": {"units": 3, "activation": )" + json + "}}"));
    return layer->get_config().at("activation");
  };
  EXPECT_EQ(activation_of("\"relu\""), Json("relu"));
  EXPECT_EQ(activation_of(R"({"class_name": "function", "config": "gelu"})"), Json("gelu"));
  EXPECT_EQ(activation_of(R"({"class_name": "relu", "config": {}})"), Json("relu"));
  EXPECT_EQ(activation_of("null"), Json("linear"));
  const Json leaky = activation_of("\"LeakyReLU\"");
  EXPECT_EQ(leaky.at("class_name"), Json("LeakyReLU"));
  EXPECT_EQ(leaky.at("config").at("negative_slope"), Json(0.3));
  const Json old = activation_of(R"({"class_name": "LeakyReLU", "config": {"alpha": 0.25}})");
  EXPECT_EQ(old.at("config").at("negative_slope"), Json(0.25));
  expect_user_error([&] { activation_of("\"nonsense\""); },
                    {"Dense: config key 'activation': ", "nonsense",
                     "load_model(path, {.custom_objects = {{\"nonsense\", [](Value x) { return x; "
                     "}}}})"});
}

TEST(Activations, OwnTheWeightsOfTheirLayers) {
  const PReLU bend({.alpha_initializer = "ones"}, "bend");
  const Dense dense({.units = 2, .activation = bend}, "dense");
  dense(sequence());
  ASSERT_EQ(dense->weights().size(), 3U);
  EXPECT_EQ(dense->weights()[2].shape(), Shape({4, 2}));
  EXPECT_EQ(dense->weights()[2], bend->weights()[0]);
  const auto copy = dense->fresh_copy();
  copy->ensure_built({{2, 4, 3}});
  EXPECT_NE(copy->sublayers().at(0).layer, LayerPtr(bend));
  EXPECT_EQ(copy->sublayers().at(0).attribute, "activation");
  EXPECT_EQ(copy->get_config().at("activation").at("config"), bend->get_config());
}

}  // namespace
}  // namespace keratin

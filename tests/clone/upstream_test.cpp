// The cloning tests of each generation of Keras, with assertions that can fail.
#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/zoo.h"

namespace keratin {
namespace {

using testing::expect_same_result;
using testing::expect_user_error;
using testing::random_tensor;

Tensor data(const Shape& shape, uint64_t seed = 1) {
  return random_tensor({DType::f32, shape}, -1, 1, seed);
}

Model mlp_functional() {
  const auto x = Input({.shape = {3}, .name = "x"});
  return Model({.inputs = x, .outputs = Dense({.units = 2})(Dense({.units = 4})(x))});
}

Model mlp_sequential(bool with_input) {
  Sequential model;
  if (with_input) model.add(Input({3}));
  model.add(Dense({.units = 4}));
  model.add(Dense({.units = 2}));
  return model;
}

// A layer class of a user, with two Dense layers.
struct PairConfig {
  int64_t units = 2;
  static constexpr std::string_view keras_name = "Pair";
  static constexpr auto fields = field_list(field("units", &PairConfig::units));
};
class PairLayer final : public LayerOf<PairLayer, PairConfig> {
 public:
  PairLayer(PairConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)),
        first_(DenseConfig{.units = 4}),
        second_(DenseConfig{.units = cfg.units}) {
    add_sublayer("first", first_);
    add_sublayer("second", second_);
  }
  void build(const Shapes& inputs) override {
    first_->ensure_built(inputs);
    second_->ensure_built({Shape({unknown, 4})});
  }
  Results call(const Call& c) const override {
    return c.invoke(*second_, c.invoke(*first_, Traced{c.input()})).value;
  }

 private:
  Dense first_, second_;
};
using Pair = Shared<PairLayer>;

void expect_clone_agrees(const Model& model, const Tree<Tensor>& x) {
  const RunResult before = model.run(x);
  const Model copy = clone_model(model);
  copy.run(x);
  const auto ours = copy.weights(), theirs = model.weights();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_FALSE(ours[i] == theirs[i]);
  copy.layer()->set_weights(model.get_weights());
  expect_same_result(copy.run(x), before, "clone");
}

TEST(UpstreamCloning, IsCorrect) {  // test_cloning_correctness
  expect_clone_agrees(mlp_functional(), data({5, 3}));
  expect_clone_agrees(mlp_sequential(true), data({5, 3}));
  expect_clone_agrees(mlp_sequential(false), data({5, 3}));
  expect_clone_agrees(Model(Pair({.units = 2})), data({5, 3}));
}

LayerPtr renamed(const LayerPtr& layer) {
  const auto& dense = dynamic_cast<const DenseLayer&>(*layer);
  return Dense(dense.config(), layer->name() + "_custom");
}

TEST(UpstreamCloning, TakesACloneFunction) {  // test_custom_clone_function
  for (const Model& model : {mlp_functional(), mlp_sequential(true)}) {
    const Model copy = clone_model(model, {.clone_function = renamed});
    const auto ours = copy.layers(), theirs = model.layers();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_EQ(ours[i]->name(),
                theirs[i]->name() + (theirs[i]->class_name() == "InputLayer" ? "" : "_custom"));
  }
}

TEST(UpstreamCloning, TakesInputTensors) {  // test_input_tensors
  for (const Model& model : {mlp_functional(), mlp_sequential(true)}) {
    const auto input = Input({.shape = {3}, .name = "fresh"});
    const Model copy = clone_model(model, {.input_tensors = input});
    EXPECT_TRUE(copy.input().same_structure(model.input()));
    EXPECT_TRUE(copy.output().same_structure(model.output()));
    EXPECT_EQ(copy.layers().size(), model.layers().size()) << "expected no further input layer";
    copy.layer()->set_weights(model.get_weights());
    expect_same_result(copy.run(data({2, 3})), model.run(data({2, 3})), "on new inputs");
  }
}

TEST(UpstreamCloning, KeepsSharedLayersShared) {  // test_shared_layers_cloning
  const auto x = Input({4});
  const Dense shared({.units = 4});
  const Model model(
      {.inputs = x, .outputs = Dense({.units = 2})(shared(shared(Dense({.units = 4})(x))))});
  const Model copy = clone_model(model);
  EXPECT_EQ(copy.layers().size(), 4u);
  EXPECT_EQ(copy.weights().size(), 6u);
  expect_clone_agrees(model, data({3, 4}));
}

TEST(UpstreamCloning, KeepsStructures) {  // test_structured_io_cloning
  const auto x = Input({.shape = {2}, .name = "x"}), y = Input({.shape = {2}, .name = "y"});
  const Symbols z1 = Lambda([](const Values& v) { return v[0] + v[1]; }, "sum")({x, y});
  const Symbols z2 = Dense({.units = 5})(z1);
  const Model model({.inputs = Symbols::Dict{{"x", x}, {"y", y}},
                     .outputs = Symbols::Dict{{"z1", z1}, {"z2", z2}}});
  EXPECT_EQ(clone_model(model).input().outline(), "{x: *, y: *}");
  EXPECT_EQ(clone_model(model).output().outline(), "{z1: *, z2: *}");
  const auto a = Input({2}), b = Input({2});
  const Model on_dict = clone_model(model, {.input_tensors = Symbols::Dict{{"x", a}, {"y", b}}});
  EXPECT_EQ(on_dict.output().outline(), "{z1: *, z2: *}");
  expect_user_error(
      [&] {
        clone_model(model, {.input_tensors = Symbols::List{a, b}});
      },
      "`input_tensors` must have the same structure as model.input");
}

// Calls the layer, and doubles the output of each Dense.
Symbols call_and_double(const LayerPtr& layer, Arguments<SymbolicTensor> arguments) {
  Symbols y = layer->call_symbolic(std::move(arguments));
  if (layer->class_name() == "Dense")
    y = Lambda([](Value v) { return v * 2.0; })(Lambda([](Value v) { return v * 0.5; })(y));
  return y;
}

TEST(UpstreamCloning, TakesACallFunction) {  // test_call_fn
  const Model model = mlp_functional();
  const Model copy = clone_model(model, {.clone_function = [](const LayerPtr& l) { return l; },
                                         .call_function = call_and_double});
  EXPECT_EQ(model.layers().size(), 3u);
  EXPECT_EQ(copy.layers().size(), 7u);
  EXPECT_EQ(copy.layers()[2]->class_name(), "Lambda");
  expect_same_result(copy.run(data({4, 3})), model.run(data({4, 3})), "shared weights");
}

Model nested(int levels, bool sequential) {
  if (levels == 0) return mlp_functional();
  const Model inner = nested(levels - 1, sequential);
  if (sequential) return Sequential({Input({3}).layer(), inner.layer(), Dense({.units = 3})});
  const auto x = Input({3});
  const Symbols y = Dense({.units = 3})(x);
  return Model({.inputs = x, .outputs = Dense({.units = 2})(inner(y))});
}

void each_layer(const Model& model, const std::function<void(const LayerPtr&)>& visit) {
  for (const LayerPtr& layer : model.layers()) {
    visit(layer);
    if (dynamic_cast<const ModelLayer*>(layer.get()) != nullptr) each_layer(Model(layer), visit);
  }
}

TEST(UpstreamCloning, ClonesNestedModels) {  // test_recursive, test_recursive_multi_level
  for (const bool sequential : {false, true})
    for (int levels = 1; levels <= 3; ++levels) {
      const Model model = nested(levels, sequential);
      const Model copy = clone_model(model, {.clone_function = renamed, .recursive = true});
      size_t dense = 0;
      each_layer(copy, [&](const LayerPtr& layer) {
        if (layer->class_name() != "Dense") return;
        ++dense;
        EXPECT_TRUE(layer->name().ends_with("_custom")) << layer->name();
      });
      EXPECT_GE(dense, 3u);
      each_layer(model, [&](const LayerPtr& layer) {
        EXPECT_FALSE(layer->name().ends_with("_custom")) << layer->name();
      });
      copy.layer()->set_weights(model.get_weights());
      expect_same_result(copy.run(data({4, 3})), model.run(data({4, 3})), "recursive");
    }
  const Model model = nested(2, false);
  const Model copy = clone_model(model, {.clone_function = [](const LayerPtr& l) { return l; },
                                         .call_function = call_and_double,
                                         .recursive = true});
  size_t before = 0, after = 0;
  each_layer(model, [&](const LayerPtr&) { ++before; });
  each_layer(copy, [&](const LayerPtr&) { ++after; });
  EXPECT_EQ(after, before + 2 * 6);
  expect_same_result(copy.run(data({4, 3})), model.run(data({4, 3})), "recursive calls");
}

TEST(UpstreamCloning, RefusesInvalidArguments) {  // test_model_cloning_invalid_use_cases
  const auto a = Input({3}), b = Input({3});
  expect_user_error(
      [&] {
        clone_model(mlp_sequential(true), {.input_tensors = Symbols::List{a, b}});
      },
      "must contain a single tensor");
  expect_user_error([&] { clone_model(mlp_sequential(true), {.call_function = call_and_double}); },
                    "`call_function` argument is not supported with Sequential models");
  const Model own(Pair({.units = 2}));
  expect_user_error(
      [&] { clone_model(own, {.clone_function = renamed}); },
      {"`clone_function`", "only supported for Sequential models or Functional models"});
  expect_user_error([&] { clone_model(own, {.input_tensors = a}); }, "`input_tensors`");
  expect_user_error([&] { clone_model(own, {.call_function = call_and_double}); },
                    "`call_function`");
  expect_user_error(
      [&] {
        clone_model(mlp_functional(), {.clone_function = [](const LayerPtr&) { return nullptr; }});
      },
      "returned nothing");
}

TEST(UpstreamCloning, TakesIntermediateTensorsAsInputs) {
  const Model model = mlp_functional();
  const auto x = Input({2});
  const Symbols middle = Dense({.units = 3}, "before")(x);
  const Model copy = clone_model(model, {.input_tensors = middle});
  EXPECT_EQ(copy.inputs()[0].shape(), Shape({unknown, 3}));
  copy.layer()->set_weights(model.get_weights());
  expect_same_result(copy.run(data({2, 3})), model.run(data({2, 3})), "from the middle");
}

TEST(Clone, KeepsFlagsNamesAndTies) {
  const auto x = Input({.shape = {3}, .name = "x"});
  const Dense frozen({.units = 3}, LayerOptions{.name = "frozen", .trainable = false});
  const Dense other({.units = 3}, "other");
  Model model({.inputs = x, .outputs = other(frozen(x)), .name = "source"});
  const Model copy = clone_model(model);
  EXPECT_FALSE(copy.get_layer("frozen")->trainable());
  EXPECT_TRUE(copy.get_layer("other")->trainable());
  EXPECT_EQ(copy.layer()->trainable_weights().size(), 2u);
  EXPECT_EQ(copy.inputs()[0].layer()->name(), "x");
  model.set_trainable(false);
  EXPECT_FALSE(clone_model(model).trainable());
  EXPECT_TRUE(clone_model(model).layer()->trainable_weights().empty());
}

TEST(Clone, KeepsAnAutomaticInputName) {
  clear_session();
  const auto x = Input({3});
  const Model model({.inputs = x, .outputs = Dense({.units = 3})(x)});
  EXPECT_EQ(clone_model(model).layers()[0]->name(), "input_layer");
}

TEST(Clone, CopiesALambdaWithItsCapturedValues) {
  const auto x = Input({2});
  const double factor = 3;
  const Symbols y = Lambda([factor](Value v) { return v * factor; })(x);
  const Model model({.inputs = x, .outputs = y});
  expect_same_result(clone_model(model).run(data({2, 2})), model.run(data({2, 2})), "captured");
}

// The model of a bug report: one input with one feature, a Lambda with two outputs, and their sum.
TEST(Clone, ClonesALambdaWithTwoOutputs) {
  const auto x = Input({1});
  const auto [a, b] = Lambda([](Value v) -> Values { return {v, v}; })(x).unpack<2>();
  const Symbols sum = Lambda([](const Values& v) { return v[0] + v[1]; })({a, b});
  const Model model({.inputs = x, .outputs = sum});
  const Tensor out = clone_model(model).predict(data({3, 1}));
  for (int64_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(out.at(i), 2 * data({3, 1}).at(i));
}

TEST(Clone, ClonesAHundredThousandLayers) {
  const auto x = Input({2});
  Symbols y = x;
  for (int i = 0; i < 100000; ++i) y = Lambda([](Value v) { return v + 1.0; })(y);
  const Model model({.inputs = x, .outputs = y});
  const Model copy = clone_model(model);
  EXPECT_EQ(copy.layers().size(), 100001u);
  const Tensor zero = Tensor::zeros(DType::f32, {1, 2});
  EXPECT_EQ(Tensor(copy.predict(zero)).at(1), 100000);
  EXPECT_EQ(Tensor(model.predict(zero)).at(1), 100000);
}

}  // namespace
}  // namespace keratin

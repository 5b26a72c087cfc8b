// Saving and loading what is written in C++: activations, initializers, regularizers, constraints.
#include <gtest/gtest.h>
#include <unistd.h>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/io/keras_file.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;

Value own_doubled(Value x) { return x * 2.0; }
Tensor own_halves(const Shape& shape, DType dtype, uint64_t) {
  return Tensor::full(dtype, shape, 0.5);
}
Value own_total(Value x) { return ops::sum(ops::square(x)) * 0.125; }
Value own_below_one(Value x) { return ops::clip(x, -1, 1); }

Model of_custom_parts() {
  const auto in = Input({.shape = {3}, .name = "in"});
  return Model({.inputs = in,
                .outputs = Dense({.units = 2,
                                  .activation = Activation("mine>doubled", own_doubled),
                                  .kernel_initializer = Initializer("halves", own_halves),
                                  .kernel_regularizer = Regularizer("total", own_total),
                                  .kernel_constraint = Constraint("below_one", own_below_one)},
                                 "dense")(in)});
}

LoadOptions bound_parts() {
  return {.custom_objects = {{"doubled", own_doubled},
                             {"halves", own_halves},
                             {"total", [](const Json&) { return Regularizer("total", own_total); }},
                             {"below_one", Constraint("below_one", own_below_one)}}};
}

class CustomParts : public ::testing::Test {
 protected:
  CustomParts() : folder_(fs::path(::testing::TempDir()) / text("keratin_parts_", getpid())) {
    fs::create_directories(folder_);
  }
  ~CustomParts() override { fs::remove_all(folder_); }
  fs::path folder_;
};

void expect_same_parts(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.count(); ++i) EXPECT_EQ(a.at(i), b.at(i)) << "element " << i;
}

// After training, saving and loading, outputs, losses and configs are the same, and training
// continues.
TEST_F(CustomParts, LoadByTheirNames) {
  Model model = of_custom_parts();
  const Tensor x = testing::random_tensor({DType::f32, {4, 3}}, -1, 1, 1);
  const Tensor y = testing::random_tensor({DType::f32, {4, 2}}, -1, 1, 2);
  EXPECT_EQ(model.get_weights()[0].at(0), 0.5);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(x, y, {.epochs = 2, .verbose = 0});
  for (const char* name : {"model.keras", "model.h5"}) {
    model.save(folder_ / name);
    Model again = load_model(folder_ / name, bound_parts());
    expect_same_parts(again.predict(x).leaf(), model.predict(x).leaf());
    EXPECT_EQ(again.to_json(), model.to_json()) << name;
    EXPECT_EQ(again.evaluate(x, y, {.verbose = 0}), model.evaluate(x, y, {.verbose = 0}));
    Model clone = clone_model(again, {.copy_weights = true});
    expect_same_parts(clone.predict(x).leaf(), model.predict(x).leaf());
    EXPECT_EQ(clone.get_config(), again.get_config());
  }
}

// Keras reads a function from an envelope, not from a name alone.
TEST_F(CustomParts, AreSavedLikeKerasFunctions) {
  const Model model = of_custom_parts();
  const Json config = model.layers()[1]->get_config();
  const auto function = [](const char* name) {
    return Json(Json::Object{{"module", "builtins"},
                             {"class_name", "function"},
                             {"config", name},
                             {"registered_name", "function"}});
  };
  EXPECT_EQ(config.at("activation"), function("mine>doubled"));
  EXPECT_EQ(config.at("kernel_initializer"), function("halves"));
  EXPECT_EQ(config.at("kernel_regularizer"), function("total"));
  EXPECT_EQ(config.at("kernel_constraint"), function("below_one"));
}

TEST_F(CustomParts, ShowInAnErrorHowToBindThem) {
  of_custom_parts().save(folder_ / "model.keras");
  const auto open = [&](LoadOptions options) {
    testing::expect_user_error([&] { load_model(folder_ / "model.keras", options); },
                               {"Dense 'dense': config key '", "load_model(path, {."});
  };
  open({});
  LoadOptions options = bound_parts();
  options.custom_objects.erase("below_one");
  testing::expect_user_error(
      [&] { load_model(folder_ / "model.keras", options); },
      {"Dense 'dense': config key 'kernel_constraint'", "below_one",
       "load_model(path, {.custom_objects = {{\"below_one\", [](Value weight) "
       "{ return weight; }}}})"});
  // The code in the messages compiles.
  load_model(folder_ / "model.keras",
             {.custom_objects = {{"mine>doubled", [](Value x) { return x; }},
                                 {"halves",
                                  [](const Shape& shape, DType dtype, uint64_t seed) {
                                    (void)seed;
                                    return Tensor::zeros(dtype, shape);
                                  }},
                                 {"total", [](Value weight) { return ops::sum(weight); }},
                                 {"below_one", [](Value weight) { return weight; }}}});
}

// The config of a Python class is passed to the factory, and saved again.
TEST_F(CustomParts, OfPythonClassesKeepTheirConfigs) {
  const std::string json = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, 3]}},
      {"class_name": "Dense", "config": {"name": "d", "units": 2, "kernel_initializer":
        {"module": null, "class_name": "Filled", "config": {"value": 0.75},
         "registered_name": "mine>Filled"}}}]}})";
  const LoadOptions options{.custom_objects = {{"mine>Filled", [](const Json& config) {
                                                  return initializers::Constant(
                                                      config.at("value").as_double());
                                                }}}};
  const Model model = model_from_json(json, options);
  EXPECT_EQ(model.get_weights()[0].at(0), 0.75);
  const Json saved = model.layers()[0]->get_config().at("kernel_initializer");
  EXPECT_EQ(saved.at("registered_name"), Json("mine>Filled"));
  EXPECT_EQ(saved.at("config").at("value"), Json(0.75));
}

// Saving does not fail if a name is missing.
TEST_F(CustomParts, WithoutANameAreSavedWithAWarning) {
  const testing::Warnings warnings;
  const auto in = Input({3});
  Model(
      {.inputs = in,
       .outputs = Dense(
           {.units = 2, .kernel_initializer = Initializer(Initializer::Function(own_halves))})(in)})
      .save(folder_ / "model.keras");
  ASSERT_FALSE(warnings.messages.empty());
  EXPECT_NE(warnings.messages[0].find("custom_initializer"), std::string::npos);
  const Model again =
      load_model(folder_ / "model.keras", {.custom_objects = {{"custom_initializer", own_halves}}});
  EXPECT_EQ(again.get_weights()[0].at(0), 0.5);
}

// Layers used as activations are loaded with their weights.
TEST_F(CustomParts, LayersAsActivationsAreSavedWithTheirWeights) {
  const auto in = Input({3});
  const PReLU bend({.alpha_initializer = initializers::Constant(0.25)});
  Model model({.inputs = in, .outputs = Dense({.units = 2, .activation = bend})(in)});
  const Tensor x = testing::random_tensor({DType::f32, {4, 3}}, -1, 1, 1);
  model.set_weights({testing::random_tensor({DType::f32, {3, 2}}, -1, 1, 3),
                     testing::random_tensor({DType::f32, {2}}, -1, 1, 4),
                     testing::random_tensor({DType::f32, {2}}, -1, 1, 5)});
  for (const char* name : {"model.keras", "model.h5"}) {
    model.save(folder_ / name);
    const Model again = load_model(folder_ / name);
    expect_same_parts(again.predict(x).leaf(), model.predict(x).leaf());
    EXPECT_EQ(again.to_json(), model.to_json());
  }
}

// A model that Keras saved before it ever ran has no weights of its activation layers.
TEST_F(CustomParts, WeightsOfAnActivationMayBeMissing) {
  const auto in = Input({3});
  const PReLU bend({.alpha_initializer = initializers::Constant(0.25)});
  Model with({.inputs = in, .outputs = Dense({.units = 2, .activation = bend}, "d")(in)});
  Model without({.inputs = in, .outputs = Dense({.units = 2}, "d")(in)});
  for (const char* name : {"model.h5", "model.weights.h5"}) {
    without.set_weights({testing::random_tensor({DType::f32, {3, 2}}, -1, 1, 6),
                         testing::random_tensor({DType::f32, {2}}, -1, 1, 7)});
    if (std::string_view(name) == "model.h5")
      without.save(folder_ / name);
    else
      without.save_weights(folder_ / name);
    with.set_weights({Tensor::zeros(DType::f32, {3, 2}), Tensor::zeros(DType::f32, {2}),
                      Tensor::full(DType::f32, {2}, 0.25)});
    with.load_weights(folder_ / name);
    EXPECT_EQ(with.get_weights()[0], without.get_weights()[0]);
    EXPECT_EQ(with.get_weights()[1], without.get_weights()[1]);
    EXPECT_EQ(with.get_weights()[2], Tensor::full(DType::f32, {2}, 0.25));
  }
}

}  // namespace
}  // namespace keratin

// Classes and functions of the user's that have a name of Keras's.
#include <gtest/gtest.h>
#include <unistd.h>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/io/compile_config.h"
#include "keratin/layers/layers.h"
#include "keratin/losses/losses.h"
#include "keratin/metrics/metrics.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

// One class of each kind, with the name of one of Keras's.
namespace own {

struct DenseConfig {
  double by = 2;
  static constexpr std::string_view keras_name = "Dense";
  static constexpr auto fields = field_list(field("by", &DenseConfig::by));
};
class Dense final : public LayerOf<own::Dense, DenseConfig> {
 public:
  Dense(DenseConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  Results call(const Call& c) const override { return c.input() * cfg.by; }
};

struct Huber {
  double power = 2;
  LossTerms call(Value y_true, Value y_pred) const {
    const Value far = ops::abs(y_true - y_pred);
    return ops::mean(ops::power(far, ops::scalar_like(far, power)), {-1});
  }
  static constexpr std::string_view keras_name = "Huber";
  static constexpr auto fields = field_list(field("power", &Huber::power));
};

struct HingeConfig {
  double limit = 0.5;
  Value call(Value y_true, Value y_pred) const {
    const Value far = ops::abs(y_true - y_pred);
    return ops::mean(ops::minimum(far, ops::scalar_like(far, limit)), {-1});
  }
  static constexpr std::string_view keras_name = "Hinge";
  static constexpr auto fields = field_list(field("limit", &HingeConfig::limit));
};
using Hinge = MeanOf<HingeConfig>;

struct ExponentialDecay {
  double start = 0.1;
  Value call(Value step) const { return start / (step + 1.0); }
  static constexpr std::string_view keras_name = "ExponentialDecay";
  static constexpr auto fields = field_list(field("start", &ExponentialDecay::start));
};

struct SGDConfig {
  LearningRate learning_rate = 0.1;
  double damping = 0.5;
  static constexpr std::string_view keras_name = "SGD";
  static constexpr auto fields = field_list(field("learning_rate", &SGDConfig::learning_rate),
                                            field("damping", &SGDConfig::damping));
};
class SGD final : public OptimizerOf<own::SGD, SGDConfig> {
 public:
  SGD(SGDConfig config, OptimizerOptions options)
      : OptimizerOf(std::move(config), std::move(options)) {}

 private:
  void make_slots(const std::vector<Variable>& all) override { (void)all; }
  void update(const Step& step) override { step.descend(step.gradient * step.rate * cfg.damping); }
};

}  // namespace own

class OwnNames : public ::testing::Test {
 protected:
  OwnNames() : folder_(fs::path(::testing::TempDir()) / text("keratin_own_names_", getpid())) {
    fs::create_directories(folder_);
  }
  ~OwnNames() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

Json dense_layer(const std::string& names, const std::string& more = "") {
  return Json::parse("{" + names + R"("class_name": "Dense", "config": {"name": "d")" + more +
                     "}}");
}

// How Python names a class Dense of the program itself, of a module, and of a package.
const char* const names_of_users[] = {
    R"("module": null, "registered_name": "Dense", )",
    R"("module": "mine.layers", "registered_name": "Dense", )",
    R"("module": "mine.layers", "registered_name": null, )",
    R"("module": "mine.layers", "registered_name": "mine>Dense", )",
    R"("module": null, "registered_name": "mine>Dense", )",
};

TEST_F(OwnNames, LayersAreNotTakenForKeras) {
  for (const char* names : names_of_users) {
    const Json json = dense_layer(names, R"(, "units": 2)");
    expect_user_error([&] { layer_from_json(json); },
                      {"Could not find the class 'Dense'", "for layer 'd'",
                       "The file says that it is not Keras's class of that name",
                       "{.custom_objects = {{\"Dense\", YourLayer::from_config}}}"});
    const LayerPtr layer = layer_from_json(dense_layer(names, R"(, "by": 3)"),
                                           {{"Dense", CustomObject::of<own::Dense>()}});
    EXPECT_EQ(dynamic_cast<own::Dense&>(*layer).config().by, 3) << names;
  }
}

// Keras's own, whatever is bound to the name.
TEST_F(OwnNames, LayersOfKerasStayKeras) {
  for (const char* module : {"keras.layers", "tf_keras.layers", "keras.src.layers.core.dense"}) {
    const Json json = dense_layer(text(R"("module": ")", module, R"(", "registered_name": null, )"),
                                  R"(, "units": 2)");
    const LayerPtr layer = layer_from_json(json, {{"Dense", own::Dense::from_config}});
    EXPECT_NE(dynamic_cast<DenseLayer*>(layer.get()), nullptr) << module;
  }
}

// Where a file has the name alone, Keras takes what is bound to it.
TEST_F(OwnNames, NamesAloneAreWhatIsBoundToThem) {
  const CustomObjects objects = {{"relu", [](Value x) { return x * 100.0; }},
                                 {"Zeros", initializers::Constant(7)},
                                 {"Dense", own::Dense::from_config},
                                 {"mse", [](Value t, Value p) { return ops::mean(t * p, {-1}); }},
                                 {"mae", [](Value t, Value p) { return ops::mean(t - p, {-1}); }},
                                 {"SGD", CustomObject::of<own::SGD>()},
                                 {"CosineDecay", [](const Json&) -> LearningRate { return 0.5; }}};
  EXPECT_NE(dynamic_cast<own::Dense*>(layer_from_json(dense_layer(""), objects).get()), nullptr);
  const Json json = dense_layer(R"("module": "keras.layers", "registered_name": null, )",
                                R"(, "units": 1, "activation": "relu",
                                "bias_initializer": {"class_name": "Zeros", "config": {}})");
  const LayerPtr layer = layer_from_json(json, objects);
  layer->ensure_built({{1, 1}});
  EXPECT_EQ(Model(layer).predict(Tensor::zeros(DType::f32, {1, 1})).leaf().at(0), 700);
  const CustomObjectScope scope(objects);
  const CompileOptions options = io::training_options(Json::parse(R"({"loss": "mse",
      "metrics": ["mae"], "optimizer": {"class_name": "SGD", "config": {"learning_rate":
          {"class_name": "CosineDecay", "config": {}}}}})"));
  EXPECT_EQ(options.loss.one()->class_name(), "");
  EXPECT_EQ(options.metrics.flat()[0].to_json().at("class_name"), Json("function"));
  EXPECT_TRUE(options.optimizer->get_config().contains("damping"));
  EXPECT_FALSE(options.optimizer->get_config().at("learning_rate").is_object());
}

TEST_F(OwnNames, NamesAloneAreKerasIfNothingIsBound) {
  const CompileOptions options = io::training_options(Json::parse(R"({"loss": "mse",
      "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.5}}})"));
  EXPECT_EQ(options.loss.one()->class_name(), "MeanSquaredError");
  EXPECT_EQ(options.optimizer->class_name(), "SGD");
  EXPECT_EQ(layer_from_json(dense_layer("", R"(, "units": 1)"))->class_name(), "Dense");
}

// The parts of a layer that have a class.
TEST_F(OwnNames, PartsAreNotTakenForKeras) {
  const std::pair<const char*, const char*> parts[] = {{"kernel_initializer", "Zeros"},
                                                       {"kernel_regularizer", "L2"},
                                                       {"kernel_constraint", "NonNeg"},
                                                       {"activation", "ReLU"}};
  for (const auto& [key, name] : parts)
    for (const char* names : {R"("module": null, "registered_name": ")",
                              R"("module": "mine.parts", "registered_name": ")",
                              R"("module": null, "registered_name": "mine>)"}) {
      const std::string part =
          text("{", names, name, R"(", "class_name": ")", name, R"(", "config": {}})");
      const Json json = dense_layer("", text(R"(, "units": 1, ")", key, "\": ", part));
      expect_user_error([&] { layer_from_json(json); }, {"Dense 'd'", key, name, "custom_objects"});
    }
}

TEST_F(OwnNames, PartsOfTrainingAreNotTakenForKeras) {
  const char* const rate = R"("optimizer": {"module": "keras.optimizers", "class_name": "Adam",
      "registered_name": null, "config": {"learning_rate": )";
  const std::tuple<std::string, const char*, const char*> parts[] = {
      {R"("loss": )", "Huber", ""},
      {R"("metrics": [)", "Hinge", "]"},
      {R"("optimizer": )", "SGD", ""},
      {rate, "CosineDecay", "}}"}};
  for (const auto& [before, name, after] : parts)
    for (const char* names : {R"("module": null, "registered_name": ")",
                              R"("module": "mine", "registered_name": "Custom>)"}) {
      const Json json = Json::parse(text("{", before, "{", names, name, R"(", "class_name": ")",
                                         name, R"(", "config": {}})", after, "}"));
      expect_user_error([&] { io::training_options(json); },
                        {"Could not interpret", name, "which is not Keras's", "custom_objects"});
    }
}

CustomObjects own_objects() {
  return {{"Dense", CustomObject::of<own::Dense>()},
          {"Huber", CustomObject::of<own::Huber>()},
          {"Hinge", CustomObject::of<own::Hinge>()},
          {"SGD", CustomObject::of<own::SGD>()},
          {"ExponentialDecay", CustomObject::of<own::ExponentialDecay>()}};
}

// C++ classes that are not registered are saved as "Custom>Name", and open if they are bound.
TEST_F(OwnNames, ClassesOfCppStayTheUsers) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Shared<own::Dense> twice({}, "twice");
  const Dense dense({.units = 2}, "dense");
  Model model({.inputs = in, .outputs = dense(twice(in))});
  model.compile({.optimizer = SharedOptimizer<own::SGD>({.learning_rate = own::ExponentialDecay{}}),
                 .loss = own::Huber{.power = 3},
                 .metrics = {SharedMetric<own::Hinge>({.limit = 0.25})}});
  const Tensor x = testing::random_tensor({DType::f32, {4, 3}}, -1, 1, 1);
  const Tensor y = testing::random_tensor({DType::f32, {4, 2}}, -1, 1, 2);
  model.fit(x, y, {.verbose = 0});
  for (const char* name : {"model.keras", "model.h5"}) {
    const testing::Warnings warnings;
    model.save(at(name));
    std::string all;
    for (const std::string& message : warnings.messages) all += message + '\n';
    for (const auto& [bound, object] : own_objects())
      EXPECT_NE(all.find(text("custom_objects={\"Custom>", bound, "\"")), std::string::npos) << all;
    expect_user_error([&] { load_model(at(name)); }, {"Dense", "'twice'", "custom_objects"});
    Model again = load_model(at(name), {.custom_objects = own_objects()});
    EXPECT_EQ(again.predict(x).leaf(), model.predict(x).leaf()) << name;
    EXPECT_EQ(again.evaluate(x, y, {.verbose = 0}), model.evaluate(x, y, {.verbose = 0})) << name;
    EXPECT_NE(dynamic_cast<DenseLayer*>(again.get_layer("dense").get()), nullptr);
    for (const char* other : {"Huber", "Hinge", "SGD", "ExponentialDecay"}) {
      CustomObjects objects = own_objects();
      objects.erase(other);
      expect_user_error([&] { load_model(at(name), {.custom_objects = objects}); },
                        {"Could not interpret", other, "custom_objects"});
    }
  }
}

Value sloped(Value x) { return ops::maximum(x, x * 0.25); }
Tensor all_halves(const Shape& shape, DType dtype, uint64_t) {
  return Tensor::full(dtype, shape, 0.5);
}
Value distance(Value y_true, Value y_pred) {
  return ops::mean(ops::abs(y_true - y_pred) * 3.0, {-1});
}

// A C++ function with a name of Keras's is not taken for Keras's when the file is opened.
TEST_F(OwnNames, FunctionsOfCppStayTheUsers) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Dense dense({.units = 2,
                     .activation = Activation("relu", sloped),
                     .kernel_initializer = Initializer("Zeros", all_halves)},
                    "dense");
  Model model({.inputs = in, .outputs = dense(in)});
  model.compile({.optimizer = SGD({.learning_rate = LearningRate("CosineDecay", sloped)}),
                 .loss = Loss("mse", distance),
                 .metrics = {Metric("accuracy", distance)}});
  const Tensor x = testing::random_tensor({DType::f32, {4, 3}}, -1, 1, 1);
  const Tensor y = testing::random_tensor({DType::f32, {4, 2}}, -1, 1, 2);
  for (const char* name : {"model.keras", "model.h5"}) {
    const testing::Warnings warnings;
    model.save(at(name));
    std::string all;
    for (const std::string& message : warnings.messages) all += message + '\n';
    for (const char* named : {"Custom>relu", "Custom>mse", "Custom>accuracy", "Custom>CosineDecay"})
      EXPECT_NE(all.find(text("custom_objects={\"", named, "\"")), std::string::npos) << all;
    expect_user_error([&] { load_model(at(name)); }, "Custom>relu");
    Model again = load_model(at(name), {.custom_objects = {{"relu", sloped},
                                                           {"Zeros", all_halves},
                                                           {"mse", distance},
                                                           {"accuracy", distance},
                                                           {"CosineDecay", sloped}}});
    EXPECT_EQ(again.to_json(), model.to_json());
    EXPECT_EQ(again.evaluate(x, y, {.verbose = 0}), model.evaluate(x, y, {.verbose = 0}));
  }
}

}  // namespace
}  // namespace keratin

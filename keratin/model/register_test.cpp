// The user's own classes and functions: registered for the process, or given for one load.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/input.h"
#include "keratin/io/compile_config.h"
#include "keratin/layers/layers.h"
#include "keratin/losses/losses.h"
#include "keratin/metrics/metrics.h"
#include "keratin/model/file_editor.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

struct StretchConfig {
  double by = 2;

  static constexpr std::string_view keras_name = "Stretch";
  static constexpr auto fields = field_list(field("by", &StretchConfig::by));
};

class Stretch final : public LayerOf<Stretch, StretchConfig> {
 public:
  Stretch(StretchConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  void build(const Shapes& inputs) override {
    weight_ = add_weight("weight", {inputs[0].back()}, "ones");
  }
  Results call(const Call& c) const override { return c.input() * c.read(weight_) * cfg.by; }

 private:
  Variable weight_;
};

// The same layer in C++, but never registered.
struct LooseConfig {
  static constexpr std::string_view keras_name = "Loose";
  static constexpr auto fields = field_list();
};
class Loose final : public LayerOf<Loose, LooseConfig> {
 public:
  Loose(LooseConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  Results call(const Call& c) const override { return c.input() * 3.0; }
};

struct Gap {
  double power = 2;
  LossTerms call(Value y_true, Value y_pred) const {
    const Value far = ops::abs(y_true - y_pred);
    return ops::mean(ops::power(far, ops::scalar_like(far, power)), {-1});
  }
  static constexpr std::string_view keras_name = "Gap";
  static constexpr auto fields = field_list(field("power", &Gap::power));
};

struct ReachConfig {
  double limit = 0.5;
  Value call(Value y_true, Value y_pred) const {
    const Value far = ops::abs(y_true - y_pred);
    return ops::mean(ops::minimum(far, ops::scalar_like(far, limit)), {-1});
  }
  static constexpr std::string_view keras_name = "Reach";
  static constexpr auto fields = field_list(field("limit", &ReachConfig::limit));
};
using Reach = MeanOf<ReachConfig>;

struct Fading {
  double start = 0.1;
  Value call(Value step) const { return start / (step + 1.0); }
  static constexpr std::string_view keras_name = "Fading";
  static constexpr auto fields = field_list(field("start", &Fading::start));
};

struct DragConfig {
  LearningRate learning_rate = 0.1;
  double damping = 0.5;
  static constexpr std::string_view keras_name = "Drag";
  static constexpr auto fields = field_list(field("learning_rate", &DragConfig::learning_rate),
                                            field("damping", &DragConfig::damping));
};
class DragOptimizer final : public OptimizerOf<DragOptimizer, DragConfig> {
 public:
  DragOptimizer(DragConfig config, OptimizerOptions options)
      : OptimizerOf(std::move(config), std::move(options)) {}

 private:
  void make_slots(const std::vector<Variable>& all) override { speeds_ = add_slots(all, "speed"); }
  void update(const Step& step) override {
    const Variable& speed = speeds_[step.index];
    step.descend(step.assign(speed, step.read(speed) * cfg.damping + step.gradient) * step.rate);
  }
  std::vector<Variable> speeds_;
};
using Drag = SharedOptimizer<DragOptimizer>;

struct KeeperConfig {
  static constexpr std::string_view keras_name = "Keeper";
  static constexpr auto fields = field_list();
};

// Keeps a table beside its weights, and a file.
class Keeper final : public LayerOf<Keeper, KeeperConfig> {
 public:
  Keeper(KeeperConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  void build(const Shapes& inputs) override {
    weight_ = add_weight("weight", {inputs[0].back()}, "ones");
  }
  Results call(const Call& c) const override { return c.input() * c.read(weight_); }
  LayerAssets assets() const override {
    return {.tensors = {{"table", table}}, .files = {{"words.txt", words}}};
  }
  LayerAssets expected_assets() const override { return assets(); }
  void load_assets(const LayerAssets& assets) override {
    table = assets.tensors.at("table");
    if (assets.files.contains("words.txt")) words = assets.files.at("words.txt");
  }

  Tensor table = Tensor({0.F, 0.F});
  std::string words = "none";

 private:
  Variable weight_;
};

// Of one value: whatever a file has it as.
struct Damp {
  double factor = 0.5;
  Value call(Value x) const { return ops::sum(x * x) * factor; }
  void check() const { detail::require(factor >= 0, "Damp: expected a factor of at least 0"); }
  static constexpr std::string_view keras_name = "Damp";
  static constexpr auto fields = field_list(field("factor", &Damp::factor));
};
struct Below {
  double limit = 1;
  Value call(Value x) const { return ops::minimum(x, ops::scalar_like(x, limit)); }
  static constexpr std::string_view keras_name = "Below";
  static constexpr auto fields = field_list(field("limit", &Below::limit));
};
struct Level {
  double value = 0.5;
  Tensor call(const Shape& shape, DType dtype, uint64_t) const {
    return Tensor::full(dtype, shape, value);
  }
  static constexpr std::string_view keras_name = "Level";
  static constexpr auto fields = field_list(field("value", &Level::value));
};

// Never registered.
struct Flat : Level {
  static constexpr std::string_view keras_name = "Flat";
  static constexpr auto fields = field_list(field("value", &Flat::value));
};

Value bent(Value x) { return ops::maximum(x, x * 0.25); }

void register_once() {
  static const bool done = [] {
    register_serializable<Stretch>("shop");
    register_serializable<Gap>("shop");
    register_serializable<Reach>("shop");
    register_serializable<Fading>("shop");
    register_serializable<DragOptimizer>("shop");
    register_serializable("shop", "bent", bent);
    register_serializable<Damp>("shop");
    register_serializable<Below>("shop");
    register_serializable<Level>("shop");
    return true;
  }();
  EXPECT_TRUE(done);
}

class Register : public ::testing::Test {
 protected:
  Register() : folder_(fs::path(::testing::TempDir()) / text("keratin_register_", getpid())) {
    fs::create_directories(folder_);
    register_once();
  }
  ~Register() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

Model of_the_shop(const Optimizer& optimizer) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Shared<Stretch> stretch({.by = 0.5}, "stretch");
  Model model({.inputs = in,
               .outputs = Dense({.units = 2, .activation = Activation("bent", bent)},
                                "dense")(stretch(in))});
  model.compile({.optimizer = optimizer,
                 .loss = Gap{.power = 3},
                 .metrics = {SharedMetric<Reach>({.limit = 0.25})}});
  return model;
}

const FitOptions quick{.batch_size = 2, .epochs = 2, .verbose = 0, .shuffle = false};

// Everything opens again without options, and training continues as if nothing had happened.
void expect_same_after_saving(Model model, const std::string& path) {
  const testing::Warnings warnings;
  const Tensor x = testing::random_tensor({DType::f32, {4, 3}}, -1, 1, 1);
  const Tensor y = testing::random_tensor({DType::f32, {4, 2}}, -1, 1, 2);
  model.fit(x, y, quick);
  model.save(path);
  Model again = load_model(path);
  EXPECT_EQ(again.to_json(), model.to_json());
  EXPECT_EQ(io::compile_config(again.trainer().options()),
            io::compile_config(model.trainer().options()));
  EXPECT_EQ(again.predict(x).leaf(), model.predict(x).leaf());
  EXPECT_EQ(again.fit(x, y, quick)["loss"], model.fit(x, y, quick)["loss"]);
  EXPECT_EQ(warnings.messages, std::vector<std::string>{}) << "registered classes need no warning";
}

TEST_F(Register, EveryKindOpensAgain) {
  for (const char* name : {"model.keras", "model.h5"}) {
    expect_same_after_saving(
        of_the_shop(Drag({.learning_rate = Fading{.start = 0.5}, .damping = 0.25})), at(name));
    expect_same_after_saving(of_the_shop(Adam({.learning_rate = Fading{}})), at(name));
  }
  expect_same_after_saving(
      of_the_shop(LossScaleOptimizer({.inner_optimizer = Drag({.learning_rate = 0.05})})),
      at("scaled.keras"));
}

TEST_F(Register, NamesAreThoseOfKeras) {
  const Model model = of_the_shop(Drag({.learning_rate = Fading{}}));
  const Json layer = serialize_layer(*model.layers()[1]);
  EXPECT_EQ(layer.at("registered_name"), Json("shop>Stretch"));
  EXPECT_EQ(layer.at("class_name"), Json("Stretch"));
  EXPECT_EQ(layer.at("module"), Json("shop"));
  EXPECT_EQ(model.layers()[2]->get_config().at("activation").at("config"), Json("shop>bent"));
  const Json training = io::compile_config(model.trainer().options());
  EXPECT_EQ(training.at("optimizer").at("registered_name"), Json("shop>Drag"));
  EXPECT_EQ(training.at("optimizer").at("config").at("learning_rate").at("registered_name"),
            Json("shop>Fading"));
  EXPECT_EQ(training.at("loss").at("registered_name"), Json("shop>Gap"));
  EXPECT_EQ(training.at("metrics")[0].at("registered_name"), Json("shop>Reach"));
}

// Two packages may have a function of one name; then it is not known which one is meant.
TEST_F(Register, FunctionsOfTwoPackagesHaveNoPackage) {
  register_serializable("first", "twin", bent);
  EXPECT_EQ(Activation("twin", bent).to_json().at("config"), Json("first>twin"));
  register_serializable("second", "twin", bent);
  EXPECT_EQ(Activation("twin", bent).to_json().at("config"), Json("twin"));
  EXPECT_EQ(Activation("second>twin", bent).to_json().at("config"), Json("second>twin"));
}

TEST_F(Register, RefusesNamesThatAreTaken) {
  expect_user_error([] { register_serializable<Stretch>("shop"); },
                    "register_serializable: 'shop>Stretch' is already registered");
  expect_user_error([] { register_serializable("", "bent", bent); },
                    "expected a package and a name without '>', got '' and 'bent'");
  expect_user_error([] { register_serializable("shop", "a>b", bent); }, "got 'shop' and 'a>b'");
}

Json dense_with(const std::string& activation) {
  return Json::Object{
      {"class_name", "Dense"},
      {"config",
       Json::Object{{"name", "d"}, {"units", 1}, {"activation", Json::parse(activation)}}}};
}

TEST_F(Register, WorksOnAnyThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] { register_serializable("threads", text("f", i), bent); });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i)
    EXPECT_NO_THROW(layer_from_json(
        dense_with(text(R"({"class_name": "function", "config": "threads>f)", i, "\"}"))));
  expect_user_error([] { register_serializable("threads", "f3", bent); }, "already registered");
}

const char* const bent_of_the_shop = R"({"module": "builtins", "class_name": "function",
    "config": "shop>bent", "registered_name": "function"})";

// One function is another one for this load.
TEST_F(Register, ObjectsOfALoadComeFirst) {
  const auto activation = [&](const CustomObjects& objects) {
    const LayerPtr layer = layer_from_json(dense_with(bent_of_the_shop), objects);
    layer->ensure_built({{1, 1}});
    layer->set_weights({Tensor::full(DType::f32, {1, 1}, 1), Tensor::zeros(DType::f32, {1})});
    return Model(layer).predict(Tensor::full(DType::f32, {1, 1}, -8)).leaf().at(0);
  };
  EXPECT_EQ(activation({}), -2);
  EXPECT_EQ(activation({{"shop>bent", [](Value x) { return x * 2.0; }}}), -16);
  EXPECT_EQ(activation({{"bent", [](Value x) { return x * 3.0; }}}), -24);
  const CustomObjectScope scope({{"bent", [](Value x) { return x * 4.0; }}});
  EXPECT_EQ(activation({}), -32);
}

// An optimizer within another one, with a schedule that is a function.
TEST_F(Register, ObjectsOfALoadAreFoundWithinOthers) {
  const CustomObjectScope scope({{"Pull", CustomObject::of<DragOptimizer>()},
                                 {"wave", [](Value step) { return ops::cos(step); }}});
  const CompileOptions options = io::training_options(Json::parse(R"({"optimizer":
      {"module": "keras.optimizers", "class_name": "LossScaleOptimizer", "registered_name": null,
       "config": {"inner_optimizer":
         {"module": null, "class_name": "Pull", "registered_name": "Pull", "config": {
            "damping": 0.125, "learning_rate": {"module": "builtins", "class_name": "function",
               "config": "wave", "registered_name": "function"}}}}}})"));
  const Json inner = options.optimizer->get_config().at("inner_optimizer");
  EXPECT_EQ(inner.at("registered_name"), Json("Pull"));
  EXPECT_EQ(inner.at("config").at("damping"), Json(0.125));
  EXPECT_EQ(inner.at("config").at("learning_rate").at("config"), Json("wave"));
}

// A file may name what is registered with any config.
TEST_F(Register, GarbageInConfigsIsAnError) {
  const auto layer = [](const char* config) {
    return Json::Object{{"class_name", "Stretch"},
                        {"registered_name", "shop>Stretch"},
                        {"config", Json::parse(config)}};
  };
  for (const char* config : {R"({"by": "far"})", R"({"by": [1]})", R"({"name": 3})"})
    expect_user_error([&] { layer_from_json(layer(config)); }, "custom object 'Stretch'");
  const CustomObjectScope scope(
      {{"Plain", [](const Json& config) -> Loss { return Gap{config.at("power").as_double()}; }}});
  for (const char* config : {"{}", "[]", "null", "3", R"({"power": {}})"})
    expect_user_error(
        [&] {
          io::training_options(
              Json::Object{{"loss", Json::Object{{"class_name", "Plain"},
                                                 {"config", Json::parse(config)},
                                                 {"registered_name", "x>Plain"}}}});
        },
        "custom object 'Plain'");
  for (const char* loss : {R"({"class_name": "Gap", "registered_name": "shop>Gap",
                              "config": {"power": "high"}})",
                           R"({"class_name": 3, "registered_name": "shop>Gap"})", "[{}]", "7"})
    expect_user_error([&] { io::training_options(Json::Object{{"loss", Json::parse(loss)}}); }, "");
}

// An object of another kind is not used.
TEST_F(Register, KindsAreNotMixedUp) {
  expect_user_error(
      [] {
        io::training_options(Json::parse(
            R"({"loss": {"class_name": "Stretch", "registered_name": "shop>Stretch",
                         "config": {}}})"));
      },
      "Could not interpret loss identifier: Stretch");
  expect_user_error(
      [] {
        layer_from_json(Json::parse(R"({"class_name": "Gap", "config": {},
                                                      "registered_name": "shop>Gap"})"));
      },
      "Could not find the class 'Gap'");
}

// Python functions in a Lambda that have C++ of their name.
TEST_F(Register, FunctionsAreThoseOfLambdas) {
  const std::string json = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, 1]}},
      {"class_name": "Lambda", "config": {"name": "l", "function": )" +
                           std::string(bent_of_the_shop) + "}}]}}";
  const Model model = model_from_json(json);
  EXPECT_EQ(model.predict(Tensor::full(DType::f32, {1, 1}, -8)).leaf().at(0), -2);
}

// Saving does not fail; a warning says what Python needs.
TEST_F(Register, UnregisteredClassesAreSavedWithAWarning) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Shared<Loose> loose({}, "loose");
  Model model({.inputs = in, .outputs = loose(in)});
  model.compile(
      {.optimizer = SGD({.learning_rate = [](Value step) { return 0.5 / (step + 1.0); }}),
       .loss = Loss([](Value t, Value p) { return ops::mean(t - p, {-1}); }, {.name = "slope"})});
  for (const char* name : {"model.keras", "model.h5"}) {
    const testing::Warnings warnings;
    model.save(at(name));
    ASSERT_EQ(warnings.messages.size(), 3U);
    EXPECT_NE(warnings.messages[0].find("custom_objects={\"Loose\": …}"), std::string::npos);
    EXPECT_NE(warnings.messages[1].find("custom_schedule"), std::string::npos);
    EXPECT_NE(warnings.messages[2].find("'slope'"), std::string::npos);
    Model again = load_model(
        at(name),
        {.custom_objects = {{"Loose", Loose::from_config},
                            {"custom_schedule", [](Value step) { return 0.5 / (step + 1.0); }},
                            {"slope", [](Value t, Value p) { return ops::mean(t - p, {-1}); }}}});
    EXPECT_EQ(serialize_layer(*again.layers()[1]).at("class_name"), Json("Loose"));
    EXPECT_EQ(again.trainer().options().loss.one()->name(), "slope");
  }
  expect_user_error([&] { load_model(at("model.keras")); },
                    "load_model(path, {.custom_objects = {{\"Loose\", YourLayer::from_config}}})");
  // The code in the message compiles.
  using YourLayer = Loose;
  load_model(at("model.keras"),
             {.custom_objects = {{"Loose", YourLayer::from_config}}, .compile = false});
}

// A model has the layer's tensors and files, weights alone have its tensors.
TEST_F(Register, LayersKeepTensorsAndFiles) {
  const auto model_of = [](const Shared<Keeper>& keeper) {
    const auto in = Input({.shape = {2}, .name = "in"});
    return Model({.inputs = in, .outputs = keeper(in)});
  };
  const Shared<Keeper> keeper({}, "keeper"), other({}, "keeper");
  Model model = model_of(keeper), same = model_of(other);
  model.set_weights({Tensor({3.F, 4.F})});
  keeper->table = Tensor({1.F, 2.F, 5.F});
  keeper->words = "two words";
  model.save(at("model.keras"));
  model.save_weights(at("model.weights.h5"));
  const Model again =
      load_model(at("model.keras"), {.custom_objects = {{"Keeper", Keeper::from_config}}});
  const auto& loaded = dynamic_cast<const Keeper&>(*again.get_layer("keeper"));
  EXPECT_EQ(loaded.table, keeper->table);
  EXPECT_EQ(loaded.words, "two words");
  EXPECT_EQ(again.get_weights()[0], Tensor({3.F, 4.F}));
  same.load_weights(at("model.weights.h5"));
  EXPECT_EQ(other->table, keeper->table);
  EXPECT_EQ(other->words, "none");
  other->table = Tensor({0.F});
  same.load_weights(at("model.keras"));
  EXPECT_EQ(other->table, keeper->table);
}

// Structs with configs are classes to Python: activations, initializers, regularizers, constraints.
Model of_structs() {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Dense dense({.units = 2,
                     .activation = Below{.limit = 0.75},
                     .kernel_initializer = Level{.value = 0.25},
                     .kernel_regularizer = Damp{.factor = 0.125},
                     .kernel_constraint = Below{.limit = 0.5}},
                    "dense");
  Model model({.inputs = in, .outputs = dense(in)});
  model.compile({.optimizer = "sgd", .loss = "mean_squared_error"});
  return model;
}

TEST_F(Register, StructsWithConfigsOpenAgain) {
  EXPECT_EQ(of_structs().get_weights()[0].at(0), 0.25);
  for (const char* name : {"model.keras", "model.h5"})
    expect_same_after_saving(of_structs(), at(name));
  const Json config = of_structs().layers()[1]->get_config();
  const auto expect_class = [&](const char* key, const char* name, const Json& own) {
    EXPECT_EQ(config.at(key), Json(Json::Object{{"module", "shop"},
                                                {"class_name", name},
                                                {"config", own},
                                                {"registered_name", text("shop>", name)}}));
  };
  expect_class("activation", "Below", Json::Object{{"limit", 0.75}});
  expect_class("kernel_initializer", "Level", Json::Object{{"value", 0.25}});
  expect_class("kernel_regularizer", "Damp", Json::Object{{"factor", 0.125}});
  expect_class("kernel_constraint", "Below", Json::Object{{"limit", 0.5}});
  const Model clone = clone_model(of_structs());
  EXPECT_EQ(clone.layers()[1]->get_config().at("kernel_constraint"),
            config.at("kernel_constraint"));
}

TEST_F(Register, StructsAreEqualIfTheirConfigsAre) {
  EXPECT_EQ(Activation(Below{}), Activation(Below{}));
  EXPECT_FALSE(Activation(Below{}) == Activation(Below{.limit = 2}));
  EXPECT_FALSE(Constraint(Below{}) == Constraint(Below{.limit = 2}));
  EXPECT_FALSE(Regularizer(Damp{}) == Regularizer(Damp{.factor = 2}));
  EXPECT_FALSE(Initializer(Level{}) == Initializer(Level{.value = 2}));
}

TEST_F(Register, StructsCheckTheirConfigs) {
  const char* const wrong = "Damp: expected a factor of at least 0";
  expect_user_error([] { Regularizer(Damp{.factor = -1}); }, wrong);
  const Json json = Json::parse(R"({"class_name": "Dense", "config": {"name": "d", "units": 1,
      "kernel_regularizer": {"module": "shop", "class_name": "Damp", "config": {"factor": -1},
                             "registered_name": "shop>Damp"}}})");
  expect_user_error([&] { layer_from_json(json); }, {"Dense 'd'", "kernel_regularizer", wrong});
}

// Without registration they are saved too, and open for one load.
TEST_F(Register, UnregisteredStructsAreSavedWithAWarning) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Model model(
      {.inputs = in, .outputs = Dense({.units = 2, .kernel_initializer = Flat{}}, "dense")(in)});
  const testing::Warnings warnings;
  model.save(at("model.keras"));
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("custom_objects={\"Flat\": …}"), std::string::npos);
  const Model again =
      load_model(at("model.keras"), {.custom_objects = {{"Flat", CustomObject::of<Flat>()}}});
  EXPECT_EQ(again.to_json(), model.to_json());
  expect_user_error([&] { load_model(at("model.keras")); }, {"Dense 'dense'", "Flat"});
}

Tensor halves(const Shape& shape, DType dtype, uint64_t) { return Tensor::full(dtype, shape, 0.5); }
Value total(Value x) { return ops::sum(ops::square(x)) * 0.125; }
Value far(Value y_true, Value y_pred) { return ops::mean(ops::abs(y_true - y_pred) * 3.0, {-1}); }

Model with_functions(const std::string& activation, const CompileOptions& options) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Dense dense({.units = 2,
                     .activation = Activation(activation, bent),
                     .kernel_initializer = Initializer("halves", halves),
                     .kernel_regularizer = Regularizer("total", total),
                     .kernel_constraint = Constraint("bent", bent)},
                    "dense");
  Model model({.inputs = in, .outputs = dense(in)});
  model.compile(options);
  return model;
}

TEST_F(Register, FunctionsOfLayersAreSavedWithAWarning) {
  const Model model = with_functions("curve", {.optimizer = "sgd", .loss = "mse"});
  for (const char* name : {"model.keras", "model.h5"}) {
    const testing::Warnings warnings;
    model.save(at(name));
    ASSERT_EQ(warnings.messages.size(), 3U);  // "bent" is registered
    const char* const parts[] = {"the activation 'curve'", "the initializer 'halves'",
                                 "the regularizer 'total'"};
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NE(warnings.messages[i].find(parts[i]), std::string::npos) << warnings.messages[i];
      EXPECT_NE(warnings.messages[i].find("Python with custom_objects={"), std::string::npos);
    }
  }
}

// Logs have the names of functions without their packages, as in Keras.
TEST_F(Register, MetricsAreReportedWithoutTheirPackage) {
  register_serializable("shop", "farther", far);
  const auto in = Input({.shape = {3}, .name = "in"});
  Model model({.inputs = in, .outputs = Dense({.units = 2}, "dense")(in)});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {Metric("farther", far)}});
  model.save(at("model.keras"));
  Model again = load_model(at("model.keras"));
  const Tensor x = Tensor::full(DType::f32, {2, 3}, 1), y = Tensor::full(DType::f32, {2, 2}, 1);
  EXPECT_TRUE(again.evaluate(x, y, {.verbose = 0}).contains("farther"));
}

// The names that a file has for a class are kept.
TEST_F(Register, ClassesOfAFileKeepTheirNames) {
  const Json json = Json::parse(R"({"module": "studio.layers", "class_name": "Loose",
      "registered_name": "studio>Loose", "config": {"name": "x", "trainable": true}})");
  const LayerPtr layer = layer_from_json(json, {{"Loose", Loose::from_config}});
  const Json saved = serialize_layer(*layer);
  for (const char* key : {"module", "class_name", "registered_name"})
    EXPECT_EQ(saved.at(key), json.at(key));
  EXPECT_EQ(serialize_layer(*detail::copy_of(layer)).at("module"), json.at("module"));
}

}  // namespace
}  // namespace keratin

#include "keratin/model/saving.h"
#include "keratin/graph/input.h"
#include "keratin/io/compile_config.h"
#include "keratin/io/load_options.h"

#include <gtest/gtest.h>

#include <fstream>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/files/hdf5.h"
#include "keratin/files/hdf5_writer.h"
#include "keratin/graph/symbolic_ops.h"
#include "keratin/layers/layers.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

// A folder that is deleted after the test.
class Saving : public ::testing::Test {
 protected:
  Saving() : folder_(fs::path(::testing::TempDir()) / text("keratin_saving_", getpid())) {
    fs::create_directories(folder_);
  }
  ~Saving() override { fs::remove_all(folder_); }
  fs::path at(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
};

Tensor random(const Shape& shape, uint64_t seed = 1) {
  return testing::random_tensor({DType::f32, shape}, -1, 1, seed);
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.count(); ++i) ASSERT_EQ(a.at(i), b.at(i)) << "element " << i;
}

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

// A model with layers in lists and members, a shared layer and a nested model.
Model of_many_parts() {
  const auto in = Input({.shape = {5}, .dtype = DType::i32, .name = "tokens"});
  const SymbolicTensor embedded =
      Embedding({.input_dim = 7, .output_dim = 4, .mask_zero = true})(in);
  const SymbolicTensor read =
      Bidirectional({.layer = LSTM({.units = 3, .return_sequences = true})})(embedded);
  const SymbolicTensor looked = MultiHeadAttention({.num_heads = 2, .key_dim = 3})(read, read);
  const SymbolicTensor stacked =
      RNN({.cell = StackedRNNCells({.cells = {LSTMCell({.units = 3}), GRUCell({.units = 4})}})})(
          looked);
  const Dense shared({.units = 4, .activation = "tanh"});
  const auto inner_in = Input({4});
  const Model inner({.inputs = inner_in, .outputs = BatchNormalization()(inner_in)});
  return Model({.inputs = in, .outputs = Dense({.units = 2})(inner(shared(shared(stacked))))});
}

TEST_F(Saving, RoundTripsAModelWithItsWeights) {
  const Model model = of_many_parts();
  model.save(at("model.keras"));
  const Model back = load_model(at("model.keras"));
  expect_same(back.get_weights(), model.get_weights());
  const Tensor x = Tensor::of<int32_t>(DType::i32, {2, 5}, {1, 2, 3, 0, 0, 6, 5, 4, 3, 2});
  expect_same(back.predict(x).leaf(), model.predict(x).leaf());
  EXPECT_EQ(back.to_json(), model.to_json());
}

// Keras's config does not say that it is one layer, and Keras cannot open such a file itself.
TEST_F(Saving, LoadsALayerSharedWithANestedModelTwice) {
  const Dense shared({.units = 3, .activation = "tanh"});
  const auto in = Input({3}), inner_in = Input({3});
  const Model inner({.inputs = inner_in, .outputs = shared(inner_in)});
  const Model model({.inputs = in, .outputs = inner(shared(in))});
  model.save(at("model.keras"));
  const Tensor x = random({2, 3});
  expect_same(load_model(at("model.keras")).predict(x).leaf(), model.predict(x).leaf());
}

// The expected groups and names are those that Keras 3.15.1 wrote for the same model.
TEST_F(Saving, WritesTheLegacyFormat) {
  const auto in = Input({.shape = {4}, .name = "x"}), inner_in = Input({.shape = {3}, .name = "y"});
  const SymbolicTensor hidden = Dense({.units = 3}, "inside")(inner_in);
  const Model inner(
      {.inputs = inner_in, .outputs = BatchNormalization({}, "norm")(hidden), .name = "inner"});
  const SymbolicTensor out = inner(Dense({.units = 3}, "first")(in));
  Model model({.inputs = in, .outputs = out + 1});
  model.compile({.optimizer = SGD({.momentum = 0.9}, {.name = "sgd"}), .loss = "mse"});
  model.fit(random({4, 4}), random({4, 3}), {.verbose = 0});
  model.save(at("a.h5"));

  const hdf5::Group root = hdf5::File(at("a.h5")).root(), weights = root.group("model_weights");
  EXPECT_EQ(root.attribute("keras_version").string(), "3.15.1");
  EXPECT_EQ(weights.strings("layer_names"), (std::vector<std::string>{"x", "first", "inner"}));
  EXPECT_EQ(weights.group("x").attribute("weight_names").tensor().dtype(), DType::f64);
  EXPECT_TRUE(weights.has_group("top_level_model_weights"));
  EXPECT_EQ(weights.group("inner").strings("weight_names"),
            (std::vector<std::string>{"inside/kernel", "inside/bias", "norm/gamma", "norm/beta",
                                      "norm/moving_mean", "norm/moving_variance"}));
  EXPECT_EQ(root.group("optimizer_weights").strings("weight_names"),
            (std::vector<std::string>{"sgd/iteration", "sgd/learning_rate",
                                      "sgd/first_kernel_momentum", "sgd/first_bias_momentum",
                                      "sgd/inside_kernel_momentum", "sgd/inside_bias_momentum",
                                      "sgd/norm_gamma_momentum", "sgd/norm_beta_momentum"}));
  const Json training = Json::parse(root.attribute("training_config").string());
  EXPECT_EQ(training.at("optimizer_config"),
            Json(Json::Object{{"class_name", "SGD"}, {"config", model.optimizer().get_config()}}));
  EXPECT_EQ(training.at("loss"), Json("mean_squared_error"));  // Keras cannot read "mse"

  Model back = load_model(at("a.h5"));
  EXPECT_EQ(back.to_json(), model.to_json());
  const Tensor x = random({4, 4}, 7), y = random({4, 3}, 8);
  expect_same(back.predict(x).leaf(), model.predict(x).leaf());
  const FitOptions in_order{.verbose = 0, .shuffle = false};
  EXPECT_EQ(back.fit(x, y, in_order)["loss"], model.fit(x, y, in_order)["loss"]);
}

// There are more names than an attribute can hold, and a nested model uses a name twice.
TEST_F(Saving, WritesManyNamesToTheLegacyFormat) {
  const auto in = Input({1});
  SymbolicTensor h = in;
  const std::string prefix(400, 'n');
  for (int i = 0; i < 200; ++i) h = Dense({.units = 1}, text(prefix, i))(h);
  const Model model({.inputs = in, .outputs = h});
  model.save(at("a.h5"));
  const hdf5::Group weights = hdf5::File(at("a.h5")).root().group("model_weights");
  EXPECT_FALSE(weights.has_attribute("layer_names"));
  EXPECT_TRUE(weights.has_attribute("layer_names0") && weights.has_attribute("layer_names1"));
  expect_same(load_model(at("a.h5")).get_weights(), model.get_weights());

  const auto one = Input({2}), two = Input({2}), out = Input({2});
  const Model first({.inputs = one, .outputs = Dense({.units = 2}, "same")(one)});
  const Model second({.inputs = two, .outputs = Dense({.units = 2}, "same")(two)});
  const Model both({.inputs = out, .outputs = first(second(out))});
  const auto outer = Input({2});
  const Model twice({.inputs = outer, .outputs = both(outer)});
  twice.save(at("b.h5"));
  expect_same(load_model(at("b.h5")).get_weights(), twice.get_weights());
}

TEST_F(Saving, ContinuesTrainingAfterLoading) {
  const Tensor x = random({16, 3}, 2), y = random({16, 2}, 3);
  const auto in = Input({3});
  Model model({.inputs = in, .outputs = Dense({.units = 2})(in)});
  model.compile(
      {.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae", "accuracy"}});
  const FitOptions quietly{.batch_size = 4, .verbose = 0, .shuffle = false};
  model.fit(x, y, quietly);
  model.save(at("model.keras"));
  Model back = load_model(at("model.keras"));
  EXPECT_EQ(back.optimizer().iterations(), 4);
  const History ours = model.fit(x, y, quietly), theirs = back.fit(x, y, quietly);
  EXPECT_EQ(ours["loss"], theirs["loss"]);
  EXPECT_EQ(ours["mae"], theirs["mae"]);
  expect_same(back.get_weights(), model.get_weights());
}

TEST(CompileConfig, WritesLossesAndMetricsByName) {
  const Json config = io::compile_config(
      {.loss = Loss([](Value t, Value p) { return ops::mean(t - p, {-1}); }, {.name = "mine"}),
       .metrics = {"accuracy", "mae"}});
  EXPECT_EQ(config.at("metrics").dump(), R"(["accuracy", "mae"])");
  EXPECT_EQ(config.at("loss").at("config"), Json("mine"));
  expect_user_error([&] { io::training_options(config); }, "mine");
  const CustomObjectScope scope({{"mine", Loss("mse")}});
  EXPECT_EQ(io::training_options(config).loss.one()->name(), Loss("mse").name());
}

TEST_F(Saving, RoundTripsTheTrainingOfSeveralOutputs) {
  const auto in = Input({3});
  Model model({.inputs = in,
               .outputs = Symbols::Dict{{"a", Dense({.units = 2}, "a")(in)},
                                        {"b", Dense({.units = 1}, "b")(in)}}});
  model.compile({.optimizer = "sgd",
                 .loss = PerOutput<Loss>::ByName{{"a", "mse"}, {"b", losses::Huber{.delta = 2}}},
                 .loss_weights = PerOutput<double>::ByName{{"a", 0.5}, {"b", 2}},
                 .metrics = std::map<std::string, Metrics::List>{{"a", {"mae", "mse"}}}});
  model.save(at("model.keras"));
  Model back = load_model(at("model.keras"));
  const Tree<Tensor> y = Tree<Tensor>::Dict{{"a", random({4, 2})}, {"b", random({4, 1})}};
  const Tensor x = random({4, 3}, 5);
  EXPECT_EQ(back.evaluate(x, y, {.verbose = 0}), model.evaluate(x, y, {.verbose = 0}));
}

TEST_F(Saving, RoundTripsLossScales) {
  const auto in = Input({3});
  const LayerOptions half{.dtype = "mixed_float16"};
  Model model({.inputs = in, .outputs = Dense({.units = 2}, half)(in)});
  model.compile({.optimizer = Adam(), .loss = "mse"});
  model.fit(random({8, 3}), random({8, 2}), {.verbose = 0});
  model.save(at("model.keras"));
  const Model back = load_model(at("model.keras"));
  const auto ours = model.optimizer().variables(), theirs = back.optimizer().variables();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) expect_same(ours[i].value(), theirs[i].value());
}

TEST_F(Saving, RoundTripsWeightsInEveryFormat) {
  for (const std::string name : {"a.weights.h5", "a.weights.json", "a.npz", "a.safetensors"}) {
    SCOPED_TRACE(name);
    const Model model = of_many_parts();
    model.save_weights(at(name));
    Model other = of_many_parts();
    other.load_weights(at(name));
    expect_same(other.get_weights(), model.get_weights());
  }
}

// As in Keras, load_weights takes the weights and the optimizer's state from a whole model's file.
TEST_F(Saving, LoadsWeightsFromAWholeModelsFile) {
  const auto make = [](int64_t units = 2) {
    const auto in = Input({3});
    Model model({.inputs = in, .outputs = Dense({.units = units}, "d")(in)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    return model;
  };
  const Tensor x = random({4, 3}), y = random({4, 2}, 2);
  Model model = make();
  const FitOptions how{.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false};
  model.fit(x, y, how);
  for (const std::string name : {"a.keras", "a/"}) model.save(at(name));
  const auto expected = model.fit(x, y, how)["loss"];
  for (const std::string name : {"a.keras", "a/"}) {
    SCOPED_TRACE(name);
    Model other = make();
    other.load_weights(at(name));
    EXPECT_EQ(other.fit(x, y, how)["loss"], expected);
    expect_user_error([&] { make(5).load_weights(at(name)); },
                      {"'d'", "'kernel' expected shape [3,5], got [3,2]"});
    expect_user_error([&] { make().load_weights(at(name), {.by_name = true}); },
                      {"`by_name` is for legacy .h5 files"});
  }
}

// Two layers of a nested model share a weight, which the file has once.
TEST_F(Saving, LoadsSharedWeightsOfOldFiles) {
  const auto inside = Input({2, 3});
  const Dense shared({.units = 3}, "shared");
  const Model inner({.inputs = inside,
                     .outputs = TimeDistributed({.layer = shared}, "each")(shared(inside)),
                     .name = "inner"});
  const auto in = Input({2, 3});
  Model model({.inputs = in, .outputs = inner(in)});
  const std::vector<Tensor> weights = {random({3, 3}, 3), random({3}, 4)};
  hdf5::Writer file;
  file.root().strings("layer_names", {"inner"});
  file.root().attribute("keras_version", "2.2.4");
  file.root().attribute("backend", "theano");  // so that each weight is converted
  hdf5::NewGroup& group = file.root().group("inner");
  group.strings("weight_names", {"kernel", "bias"});
  group.dataset("kernel", weights[0]);
  group.dataset("bias", weights[1]);
  file.save(at("old.h5"));
  model.load_weights(at("old.h5"));
  expect_same(model.get_weights(), weights);
}

std::string read_text(const fs::path& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// The expected index and shards are those that Keras 3.15.1 wrote for the same model and size.
TEST_F(Saving, WritesShardedWeights) {
  const auto make = [] {
    const auto in = Input({4});
    const SymbolicTensor h = Dense({.units = 3}, "first")(in);
    return Model({.inputs = in,
                  .outputs = Dense({.units = 2}, "second")(BatchNormalization({}, "norm")(h))});
  };
  const Model model = make();
  model.save_weights(at("a.weights.json"), {.max_shard_size = 60.0 / (1 << 30)});
  const Json index = Json::parse(read_text(at("a.weights.json")));
  EXPECT_EQ(index, Json::parse(R"({"metadata": {"total_size": 140.0}, "weight_map": {
      "/layers/dense/vars": ["a_00000.weights.h5"],
      "/layers/batch_normalization/vars": ["a_00001.weights.h5"],
      "/layers/dense_1/vars": ["a_00002.weights.h5"]}})"));
  Model other = make();
  other.load_weights(at("a.weights.json"));
  expect_same(other.get_weights(), model.get_weights());
  // One group is divided over several files.
  model.save_weights(at("b.weights.json"), {.max_shard_size = 48.0 / (1 << 30)});
  EXPECT_TRUE(fs::exists(at("b_00002.weights.h5")));
  Model third = make();
  third.load_weights(at("b.weights.json"));
  expect_same(third.get_weights(), model.get_weights());

  expect_user_error([&] { model.save_weights(at("c.weights.json"), {.max_shard_size = 1e-9}); },
                    {"'first/kernel' is 48 bytes", "`max_shard_size`"});
  EXPECT_FALSE(fs::exists(at("c_00000.weights.h5")));
  expect_user_error([&] { model.save_weights(at("c.weights.h5"), {.max_shard_size = 1}); },
                    {".weights.json", "c.weights.h5"});
  expect_user_error([&] { model.save_weights(at("c.weights.json"), {.max_shard_size = 0}); },
                    "positive");
  fs::remove(at("b_00001.weights.h5"));
  expect_user_error([&] { third.load_weights(at("b.weights.json")); },
                    {"b.weights.json", "'b_00001.weights.h5'", "found no such file"});
}

TEST_F(Saving, RefusesShardsInOtherFolders) {
  const auto in = Input({3});
  Model model({.inputs = in, .outputs = Dense({.units = 2})(in)});
  for (const std::string name :
       {"../x.h5", "/etc/passwd", "a/b.h5", "a\\\\b.h5", "..", "", "a\\u0000"}) {
    SCOPED_TRACE(name);
    std::ofstream(at("a.weights.json"))
        << R"({"weight_map": {"/layers/dense/vars": [")" << name << R"("]}})";
    expect_user_error([&] { model.load_weights(at("a.weights.json")); },
                      {"a.weights.json", "a file beside it"});
  }
  std::ofstream(at("a.weights.json")) << R"({"weight_map": {"/layers/dense/vars": 3}})";
  expect_user_error([&] { model.load_weights(at("a.weights.json")); }, "a.weights.json");
  std::ofstream(at("a.weights.json")) << R"({"weight_map": {}})";
  expect_user_error([&] { model.load_weights(at("a.weights.json")); },
                    {"'dense", "expected 2 variables, but received 0"});
}

TEST_F(Saving, ChangesNothingIfAFileDoesNotFit) {
  const auto in = Input({3});
  const auto narrow = [&](int64_t units) {
    return Sequential({Dense({.units = 3}, "first"), Dense({.units = units}, "second")});
  };
  Sequential model = narrow(2), other = narrow(4);
  model.predict(random({1, 3}));
  other.predict(random({1, 3}));
  model.save_weights(at("a.weights.h5"));
  const std::vector<Tensor> before = other.get_weights();
  expect_user_error([&] { other.load_weights(at("a.weights.h5")); },
                    {"a.weights.h5", "'second'", "'kernel' expected shape [3,4], got [3,2]"});
  expect_same(other.get_weights(), before);
  other.load_weights(at("a.weights.h5"), {.skip_mismatch = true});
  expect_same(other.get_weights()[0], model.get_weights()[0]);
  expect_same(other.get_weights()[2], before[2]);
  expect_user_error([&] { Sequential({Dense({.units = 3})}).load_weights(at("a.weights.h5")); },
                    {"has not been built"});
}

// As in Keras, weights can be loaded into a model that is trained differently.
TEST_F(Saving, IgnoresTheStateOfAnotherOptimizer) {
  const auto compiled = [](const Optimizer& optimizer) {
    const auto in = Input({3});
    Model model({.inputs = in, .outputs = Dense({.units = 2})(in)});
    model.compile({.optimizer = optimizer, .loss = "mse"});
    model.fit(random({4, 3}), random({4, 2}), {.verbose = 0});
    return model;
  };
  const Model model = compiled(Adam());
  model.save_weights(at("a.weights.h5"));
  Model other = compiled(SGD());
  other.load_weights(at("a.weights.h5"));
  expect_same(other.get_weights(), model.get_weights());
}

// Keras 2.12 and later write .keras files too; masks follow the version that wrote the file.
TEST_F(Saving, TakesTheDialectOfTheFilesVersion) {
  const Model model = of_many_parts();
  model.save(at("model.keras"));
  EXPECT_EQ(load_model(at("model.keras")).dialect(), Dialect::keras3);
  EXPECT_EQ(load_model(at("model.keras"), {.dialect = Dialect::keras2}).dialect(), Dialect::keras2);
  // The same members in a folder.
  fs::create_directory(at("folder"));
  std::ofstream(at("folder/metadata.json")) << R"({"keras_version": "2.15.0"})";
  std::ofstream(at("folder/config.json")) << model.to_json();
  model.save_weights(at("folder/model.weights.h5"));
  const Model back = load_model(at("folder"));
  EXPECT_EQ(back.dialect(), Dialect::keras2);
  expect_same(back.get_weights(), model.get_weights());
}

// A Lambda of C++ is saved as operations, so it needs no function; saved_test.cpp tests those of
// Python.
TEST_F(Saving, RoundTripsALambdaAsOperations) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Lambda bend([](Value x) { return x * x + 1.0; }, "bend");
  const auto inner_in = Input({3});
  const Model inner({.inputs = inner_in, .outputs = Dense({.units = 3})(inner_in)});
  const Model model({.inputs = in, .outputs = {inner(bend(in)), bend(in)}});
  for (const std::string file : {"model.keras", "model.h5"}) {
    SCOPED_TRACE(file);
    model.save(at(file));
    const Model back = load_model(at(file));
    const Tensor x = random({2, 3});
    expect_same(back.predict(x).flat(), model.predict(x).flat());
    EXPECT_EQ(back.to_json(), model.to_json());
  }
}

// HDF5 and NumPy have no bfloat16, but the numbers are the same.
TEST_F(Saving, RoundTripsHalfPrecisionInEveryFormat) {
  for (const char* policy : {"float16", "bfloat16"}) {
    SCOPED_TRACE(policy);
    const LayerOptions half{.name = "d", .dtype = policy};
    const auto make = [&] {
      const auto in = Input({3});
      return Model({.inputs = in, .outputs = Dense({.units = 2}, half)(in)});
    };
    const Model model = make();
    ASSERT_EQ(size_of(model.get_weights()[0].dtype()), 2U);
    for (const std::string file : {"a.keras", "a.h5"}) {
      SCOPED_TRACE(file);
      model.save(at(file));
      const std::vector<Tensor> back = load_model(at(file)).get_weights();
      expect_same(back, model.get_weights());
      EXPECT_EQ(back[0].dtype(), model.get_weights()[0].dtype());
    }
    for (const std::string file : {"a.weights.h5", "a.weights.json", "a.npz", "a.safetensors"}) {
      SCOPED_TRACE(file);
      model.save_weights(at(file));
      Model other = make();
      other.load_weights(at(file));
      expect_same(other.get_weights(), model.get_weights());
    }
  }
}

TEST_F(Saving, WarnsOfUnknownConfigKeys) {
  const auto in = Input({3});
  std::string json = Model({.inputs = in, .outputs = Dense({.units = 2}, "d")(in)}).to_json();
  json.replace(json.find(R"("units")"), 7, R"("colour": "red", "units")");
  std::vector<std::string> warnings;
  const auto before = set_warning_handler([&](const std::string& w) { warnings.push_back(w); });
  model_from_json(json);
  set_warning_handler(before);
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "Dense 'd': the config key 'colour' is not known and was ignored"});
}

TEST_F(Saving, NamesAMissingClass) {
  const Json json = Json::parse(R"({"class_name": "Swirl", "module": "my_package.layers",
      "registered_name": "my_package>Swirl", "config": {"name": "swirl_3", "units": 2}})");
  expect_user_error([&] { model_from_json(json.dump()); },
                    {"class 'Swirl'", "module 'my_package.layers'", "layer 'swirl_3'",
                     "register it", R"({.custom_objects = {{"Swirl", YourLayer::from_config}}})"});
  // A class can be registered by its name, or by its registered name.
  for (const std::string name : {"Swirl", "my_package>Swirl"}) {
    const auto make = [](const Json& config, const ConfigContext&) -> LayerPtr {
      return Dense({.units = config.at("units").as_int()}, config.at("name").as_string());
    };
    EXPECT_EQ(model_from_json(json.dump(), {.custom_objects = {{name, make}}}).name(), "swirl_3");
  }
}

TEST_F(Saving, RefusesBadPathsAndFiles) {
  const auto in = Input({3});
  const Model model({.inputs = in, .outputs = Dense({.units = 2})(in)});
  expect_user_error([&] { model.save(at("model.pickle")); }, {".keras", "model.pickle"});
  expect_user_error([&] { model.save(at("model.weights.h5")); }, {"`save_weights`", ".keras"});
  expect_user_error([&] { model.save_weights(at("model.txt")); }, {".weights.h5", "model.txt"});
  expect_user_error([&] { load_model(at("none.keras")); }, {"File not found", "none.keras"});
  std::ofstream(at("bad.keras")) << "this is no zip";
  expect_user_error([&] { load_model(at("bad.keras")); }, "bad.keras");
  model.save(at("model.keras"));
  expect_user_error([&] { model.save(at("model.keras"), {.overwrite = false}); }, "overwrite");
  fs::create_directory(at("empty"));
  expect_user_error([&] { load_model(at("empty")); }, {"empty", "config.json"});
}

}  // namespace
}  // namespace keratin

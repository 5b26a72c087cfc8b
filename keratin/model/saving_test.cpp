#include "keratin/model/saving.h"

#include <gtest/gtest.h>

#include <fstream>

#include "keratin/layers/layers.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

// A folder that goes when the test ends.
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

// Layers in lists, layers in members, a shared layer, a model within.
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

TEST_F(Saving, AModelComesBackWithItsWeights) {
  const Model model = of_many_parts();
  model.save(at("model.keras"));
  const Model back = load_model(at("model.keras"));
  expect_same(back.get_weights(), model.get_weights());
  const Tensor x = Tensor::of<int32_t>(DType::i32, {2, 5}, {1, 2, 3, 0, 0, 6, 5, 4, 3, 2});
  expect_same(back.predict(x).leaf(), model.predict(x).leaf());
  EXPECT_EQ(back.to_json(), model.to_json());
}

// Keras's config does not say that they are one layer, and Keras cannot open what it writes then.
TEST_F(Saving, ALayerSharedWithAModelInsideComesBackTwice) {
  const Dense shared({.units = 3, .activation = "tanh"});
  const auto in = Input({3}), inner_in = Input({3});
  const Model inner({.inputs = inner_in, .outputs = shared(inner_in)});
  const Model model({.inputs = in, .outputs = inner(shared(in))});
  model.save(at("model.keras"));
  const Tensor x = random({2, 3});
  expect_same(load_model(at("model.keras")).predict(x).leaf(), model.predict(x).leaf());
}

TEST_F(Saving, TrainingGoesOnWhereItStopped) {
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

TEST(CompileConfig, NamesWhatWasAskedForByName) {
  const Json config = io::compile_config(
      {.loss = Loss([](Value t, Value p) { return ops::mean(t - p, {-1}); }, {.name = "mine"}),
       .metrics = {"accuracy", "mae"}});
  EXPECT_EQ(config.at("metrics").dump(), R"(["accuracy", "mae"])");
  EXPECT_EQ(config.at("loss").at("config"), Json("mine"));
  expect_user_error([&] { io::training_options(config); }, "mine");
  const CustomTraining custom{.losses = {{"mine", "mse"}}};
  EXPECT_EQ(io::training_options(config, custom).loss.one()->name(), Loss("mse").name());
}

TEST_F(Saving, SaysHowSeveralOutputsAreTrained) {
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

TEST_F(Saving, LossScalesAreKeptToo) {
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

TEST_F(Saving, WeightsAloneInEveryFormat) {
  for (const std::string name : {"a.weights.h5", "a.npz", "a.safetensors"}) {
    SCOPED_TRACE(name);
    const Model model = of_many_parts();
    model.save_weights(at(name));
    Model other = of_many_parts();
    other.load_weights(at(name));
    expect_same(other.get_weights(), model.get_weights());
  }
}

TEST_F(Saving, AFileThatDoesNotFitChangesNothing) {
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

// As in Keras: weights move between models that are trained differently.
TEST_F(Saving, WeightsComeWithoutTheStateOfAnotherOptimizer) {
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

// Keras 2.12 and later wrote .keras files too; masks follow who wrote it.
TEST_F(Saving, TheDialectIsThatOfTheWriter) {
  const Model model = of_many_parts();
  model.save(at("model.keras"));
  EXPECT_EQ(load_model(at("model.keras")).dialect(), Dialect::keras3);
  EXPECT_EQ(load_model(at("model.keras"), {.dialect = Dialect::keras2}).dialect(), Dialect::keras2);
  // The same parts in a folder.
  fs::create_directory(at("folder"));
  std::ofstream(at("folder/metadata.json")) << R"({"keras_version": "2.15.0"})";
  std::ofstream(at("folder/config.json")) << model.to_json();
  model.save_weights(at("folder/model.weights.h5"));
  const Model back = load_model(at("folder"));
  EXPECT_EQ(back.dialect(), Dialect::keras2);
  expect_same(back.get_weights(), model.get_weights());
}

TEST_F(Saving, ALambdaOfPythonIsBoundByTheCaller) {
  const auto in = Input({.shape = {3}, .name = "in"});
  const Model model(
      {.inputs = in, .outputs = Lambda([](Value x) { return x * 2.0; }, "double")(in)});
  model.save(at("model.keras"));
  expect_user_error([&] { load_model(at("model.keras")); },
                    {"Lambda layer 'double'", "never run", ".lambdas"});
  const LambdaFunction half = [](const Call& c) -> Results { return c.input() * 0.5; };
  const Model back = load_model(at("model.keras"), {.lambdas = {{"double", half}}});
  EXPECT_EQ(back.predict(Tensor::full(DType::f32, {1, 3}, 4)).leaf().at(0), 2);
}

TEST_F(Saving, BadPathsAndFilesAreSaid) {
  const auto in = Input({3});
  const Model model({.inputs = in, .outputs = Dense({.units = 2})(in)});
  expect_user_error([&] { model.save(at("model.pickle")); }, {".keras", "model.pickle"});
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

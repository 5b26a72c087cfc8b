#include "keratin/distribute/multi_gpu_model.h"

#include <gtest/gtest.h>

#include "keratin/graph/input.h"
#include "keratin/graph/replication.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/program.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::waves;

class MultiGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 4);
    set_random_seed(7);
  }
  void TearDown() override { set_logical_devices("gpu", 0); }
};

Model small_model() {
  const auto x = Input({3});
  return Model(
      {.inputs = x, .outputs = Dense({.units = 2})(Dense({.units = 5, .activation = "tanh"})(x))});
}

TEST_F(MultiGpu, RefusesFewerThanTwoAndMissingGpus) {
  const Model model = small_model();
  expect_user_error([&] { multi_gpu_model(model, {.gpus = 1}); },
                    "For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. "
                    "Received: `gpus=1`");
  expect_user_error([&] { multi_gpu_model(model, {.gpus = {0}}); },
                    "call `multi_gpu_model` with `len(gpus) >= 2`. Received: `gpus=[0]`");
  expect_user_error(
      [&] {
        multi_gpu_model(model, {.gpus = {0, 2, 4}});
      },
      "To call `multi_gpu_model` with `gpus=[0, 2, 4]`, we expect the following devices to be "
      "available: ['/cpu:0', '/gpu:0', '/gpu:2', '/gpu:4']. However this machine only has: "
      "['/cpu:0', '/gpu:0', '/gpu:1', '/gpu:2', '/gpu:3']. Try reducing `gpus`.");
  expect_user_error([&] { multi_gpu_model(model, {.gpus = 10}); },
                    {"`gpus=10`", "'/gpu:9']. However this machine only has: ", "Try reducing"});
  expect_user_error([&] { multi_gpu_model(model, {.gpus = -2}); }, "Received: `gpus=-2`");
  // Ids do not wrap round to existing ones.
  expect_user_error(
      [&] {
        multi_gpu_model(model, {.gpus = {0, 65537}});
      },
      "available: ['/cpu:0', '/gpu:0', '/gpu:65537']. However this machine only has: ");
  // As in Keras, a device may run two slices.
  const Tensor x = waves({7, 3}, 0);
  EXPECT_EQ(multi_gpu_model(model, {.gpus = {1, 0, 1}}).predict(x).leaf(), model.predict(x).leaf());
  set_logical_devices("gpu", 0);
  expect_user_error([&] { multi_gpu_model(model); }, "Received: `gpus=0`");
}

// As in Keras, if the number is missing, 0 or an empty list.
TEST_F(MultiGpu, UsesAllGpusByDefault) {
  const std::vector<Device> all = devices(Device::Kind::gpu);
  EXPECT_EQ(Gpus().resolve(), all);
  EXPECT_EQ(Gpus(0).resolve(), all);
  EXPECT_EQ(Gpus(std::vector<int>{}).resolve(), all);
  EXPECT_EQ(Gpus(2).resolve(), (std::vector{Device("gpu:0"), Device("gpu:1")}));
  EXPECT_EQ(Gpus({3, 1}).resolve(), (std::vector{Device("gpu:3"), Device("gpu:1")}));
}

TEST_F(MultiGpu, RefusesAModelOfARemovedDevice) {
  const Model parallel = multi_gpu_model(small_model(), {.gpus = 4});
  set_logical_devices("gpu", 2);
  expect_user_error(
      [&] {
        parallel.predict(waves({8, 3}, 0, 0.1));
      },
      "compile: there is no device gpu:2; there are 3, the last is gpu:1");
}

TEST_F(MultiGpu, NamesItsOutputsAsKeras) {
  const auto a = Input({3}), b = Input({3});
  const Model nested = small_model();
  const SymbolicTensor one = nested(a), other = nested(b);
  const Model model(
      {.inputs = Symbols{a, b}, .outputs = Symbols{Add({}, "add")({one, other}), one, other}});
  const auto names = [](const Model& given) {
    std::vector<std::string> all;
    for (const SymbolicTensor& t : multi_gpu_model(given, {.gpus = 2}).outputs())
      all.push_back(t.layer()->name());
    return all;
  };
  EXPECT_EQ(names(model),
            (std::vector<std::string>{"add", nested.name() + "_1", nested.name() + "_2"}));
  // An input has its name already.
  const Model through({.inputs = a, .outputs = Symbols{a, Dense({.units = 1}, "dense")(a)}});
  EXPECT_EQ(names(through),
            (std::vector<std::string>{through.inputs()[0].layer()->name() + "_1", "dense"}));
}

// Slices of one size; the last one also has the remaining samples. Slices without samples are not
// run, unless there are no samples at all.
TEST_F(MultiGpu, SplitsAsKeras) {
  std::vector<int64_t> sizes;
  const auto x = Input({3});
  const Model model({.inputs = x, .outputs = Lambda([&](const Call& c) {
                                    if (const Replication* all = c.tracer().replication())
                                      sizes.push_back(all->replica().end - all->replica().begin);
                                    return c.input();
                                  })(x)});
  const Model many = multi_gpu_model(model, {.gpus = 4});
  for (const auto& [batch, expected] : std::map<int64_t, std::vector<int64_t>>{
           {12, {3, 3, 3, 3}}, {10, {2, 2, 2, 4}}, {3, {3}}, {0, {0}}}) {
    sizes.clear();
    EXPECT_EQ(many.predict_on_batch(waves({batch, 3})).leaf().shape(), (Shape{batch, 3}));
    EXPECT_EQ(sizes, expected) << "batch " << batch;
  }
}

TEST_F(MultiGpu, RunsEverySliceOnItsDevice) {
  const Model parallel = multi_gpu_model(small_model(), {.gpus = {1, 3}});
  const std::string plan = parallel.program(waves({8, 3}, 0, 0.1))->executable().describe();
  EXPECT_NE(plan.find("gpu:1 matmul"), std::string::npos) << plan;
  EXPECT_NE(plan.find("gpu:3 matmul"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("gpu:0"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("cpu:0 matmul"), std::string::npos) << plan;
}

TEST_F(MultiGpu, JoinsOutputsOnTheMergeDevice) {
  for (const bool cpu_merge : {true, false}) {
    const Model parallel = multi_gpu_model(small_model(), {.gpus = {1, 3}, .cpu_merge = cpu_merge});
    const std::string plan = parallel.program(waves({8, 3}, 0, 0.1))->executable().describe();
    EXPECT_EQ(plan.find("cpu:0 concat") != std::string::npos, cpu_merge) << plan;
    EXPECT_EQ(plan.find("gpu:1 concat") != std::string::npos, !cpu_merge) << plan;
  }
}

// Weights, and other variables: the seeds of dropout.
TEST_F(MultiGpu, RelocatesAllVariables) {
  const Model model = [] {
    const auto scope = device_scope("gpu:0");
    const auto x = Input({3});
    return Model({.inputs = x, .outputs = Dropout({.rate = 0.5})(Dense({.units = 2})(x))});
  }();
  const std::vector<Variable> all = model.layer()->variables();
  ASSERT_EQ(all.size(), 3u);
  for (const bool relocate : {false, true}) {
    multi_gpu_model(model, {.gpus = 2, .cpu_relocation = relocate});
    for (const Variable& v : all)
      EXPECT_EQ(v.device(), Device(relocate ? "cpu:0" : "gpu:0")) << v.path();
  }
}

// Each replica gets its rows of a mask that comes with the input.
TEST_F(MultiGpu, SplitsMasksWithTheBatch) {
  const auto in = Input({4, 2});
  const Model model({.inputs = in, .outputs = LSTM({.units = 3})(in)});
  const auto masked = [](const Model& inner) {
    const auto x = Input({4, 2});
    return Model({.inputs = x, .outputs = inner(Masking()(x))});
  };
  Tensor x = waves({7, 4, 2}, 0, 0.7);
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t k = 1 + i % 4; k < 4; ++k)
      x.set((i * 4 + k) * 2, 0), x.set((i * 4 + k) * 2 + 1, 0);
  const Tensor expected = masked(model).predict(x).leaf(),
               got = masked(multi_gpu_model(model, {.gpus = 3})).predict(x).leaf();
  for (int64_t i = 0; i < expected.count(); ++i) EXPECT_NEAR(got.at(i), expected.at(i), 1e-6) << i;
  EXPECT_NE(got.at(0), model.predict(x).leaf().at(0));
}

TEST_F(MultiGpu, RefusesInputsWithDifferentBatches) {
  const auto x = Input(InputOptions{.shape = {3}, .batch_size = 4}),
             y = Input(InputOptions{.shape = {3}, .batch_size = 6});
  const Model model({.inputs = Symbols{x, y},
                     .outputs = Symbols{Dense({.units = 1})(x), Dense({.units = 1})(y)}});
  expect_user_error([&] { multi_gpu_model(model, {.gpus = 2}); },
                    "model '" + model.name() + "': inputs have 4 and 6 samples");
}

// Follows the given model when that is frozen and unfrozen.
TEST_F(MultiGpu, TrainsWhatTheGivenModelTrains) {
  Model model = small_model();
  model.set_trainable(false);
  const Model parallel = multi_gpu_model(model, {.gpus = 2});
  EXPECT_EQ(parallel.layer()->trainable_weights().size(), 0u);
  model.set_trainable(true);
  EXPECT_EQ(parallel.layer()->trainable_weights().size(), 4u);
  model.set_trainable(false);
  EXPECT_EQ(parallel.layer()->trainable_weights().size(), 0u);
}

TEST_F(MultiGpu, ACloneHasItsOwnWeights) {
  const Model model = small_model();
  const Model parallel = multi_gpu_model(model, {.gpus = 2});
  const auto before = model.get_weights();
  Model clone = clone_model(parallel, {.copy_weights = true});
  EXPECT_EQ(clone.get_weights(), before);
  clone.compile({.optimizer = "sgd", .loss = "mse"});
  clone.train_on_batch(waves({8, 3}), waves({8, 2}, 1));
  EXPECT_NE(clone.get_weights(), before);
  EXPECT_EQ(model.get_weights(), before);
}

TEST_F(MultiGpu, TrainsTheGivenModel) {
  for (const bool relocate : {false, true})
    for (const bool cpu_merge : {true, false})
      for (const int64_t batch : {1, 7, 10, 64}) {
        const Model single = small_model(), twin = small_model();
        Model(twin).set_weights(single.get_weights());
        const Tensor x = waves({batch, 3}, 0, 0.7), y = waves({batch, 2}, 1, 0.3);
        Model one = single,
              many = multi_gpu_model(
                  twin, {.gpus = 3, .cpu_merge = cpu_merge, .cpu_relocation = relocate});
        one.compile({.optimizer = "adam", .loss = "mse"});
        many.compile({.optimizer = "adam", .loss = "mse"});
        for (int step = 0; step < 20; ++step)
          EXPECT_NEAR(many.train_on_batch(x, y).at("loss"), one.train_on_batch(x, y).at("loss"),
                      1e-5);
        const auto expected = single.get_weights(), got = twin.get_weights();
        for (size_t w = 0; w < expected.size(); ++w)
          for (int64_t i = 0; i < expected[w].count(); ++i)
            EXPECT_NEAR(got[w].at(i), expected[w].at(i), 1e-5)
                << "weight " << w << ", batch " << batch;
      }
}

TEST_F(MultiGpu, SavesAndLoadsTheGivenModel) {
  const Model model = small_model();
  Model parallel = multi_gpu_model(model, {.gpus = 2});
  parallel.compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = waves({10, 3}, 0, 0.7), y = waves({10, 2}, 1, 0.3);
  parallel.train_on_batch(x, y);
  const auto folder = std::filesystem::temp_directory_path() / "keratin_multi_gpu";
  std::filesystem::create_directories(folder);
  for (const char* name : {"model.keras", "model.h5"}) {
    parallel.save(folder / name);
    Model again = load_model(folder / name);
    EXPECT_EQ(again.to_json(), model.to_json()) << name;
    EXPECT_EQ(again.predict(x).leaf().to_vector(), model.predict(x).leaf().to_vector()) << name;
    EXPECT_EQ(again.optimizer().iterations(), 1) << name;
  }
  // The two models share their weights.
  parallel.save_weights(folder / "w.weights.h5");
  const Model other = small_model();
  Model(other).load_weights(folder / "w.weights.h5");
  EXPECT_EQ(other.predict(x).leaf().to_vector(), model.predict(x).leaf().to_vector());
  Model many = multi_gpu_model(small_model(), {.gpus = 2});
  many.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(many.predict(x).leaf().to_vector(), model.predict(x).leaf().to_vector());
  std::filesystem::remove_all(folder);
}

// Adds, for each sample, the sum of its features times a weight, as a mean, as losses of samples,
// and a loss that does not depend on the batch.
class Adding final : public Layer {
 public:
  Adding() : Layer("Adding", {}) {}
  std::string_view class_name() const override { return "Adding"; }
  LayerPtr fresh_copy() const override { return std::make_shared<Adding>(); }
  void build(const Shapes&) override { weight_ = add_weight("weight", {}, "ones"); }
  Results call(const Call& c) const override {
    const Value x = c.input(), samples = ops::sum(x, {1}) * c.read(weight_);
    if (x.shape()[0] != unknown) {
      c.add_loss(ops::mean(samples));
      c.add_loss(samples);
      c.add_loss(ops::square(c.read(weight_)));
    }
    return x * c.read(weight_);
  }

 private:
  Variable weight_;
};

TEST_F(MultiGpu, WeighsLossesOfLayersAsOnOneDevice) {
  const auto make = [] {
    const auto x = Input({3});
    const SymbolicTensor y =
        Dense({.units = 3}, LayerOptions{.activity_regularizer = regularizers::L2(0.1)})(x);
    return Model({.inputs = x, .outputs = (*std::make_shared<Adding>())(y)});
  };
  const Model single = make(), twin = make();
  Model(twin).set_weights(single.get_weights());
  Model one = single, many = multi_gpu_model(twin, {.gpus = 4});
  for (const int64_t batch : {1, 7, 10}) {
    const Tensor x = waves({batch, 3}, 0, 0.7);
    const auto expected = one.run(x).losses, got = many.run(x).losses;
    ASSERT_EQ(got.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(got[i].shape(), expected[i].shape()) << i;
      for (int64_t k = 0; k < got[i].count(); ++k)
        EXPECT_NEAR(got[i].at(k), expected[i].at(k), 1e-6) << "loss " << i << ", batch " << batch;
    }
    for (Model* model : {&one, &many}) model->compile({.optimizer = "sgd", .loss = "mse"});
    const Tensor y = waves({batch, 3}, 1, 0.3);
    EXPECT_NEAR(many.train_on_batch(x, y).at("loss"), one.train_on_batch(x, y).at("loss"), 1e-5);
  }
}

TEST_F(MultiGpu, KeepsPerSampleStateWithItsReplica) {
  const auto make = [] {
    const auto x = Input(InputOptions{.shape = {4, 3}, .batch_size = 7});
    return Model({.inputs = x,
                  .outputs = GRU({.units = 2, .stateful = true}, "gru")(
                      LSTM({.units = 5, .return_sequences = true, .stateful = true}, "lstm")(x))});
  };
  const Model single = make(), twin = make();
  Model(twin).set_weights(single.get_weights());
  const Model many = multi_gpu_model(twin, {.gpus = 3});
  const auto states = [](const Model& model) {
    std::vector<Tensor> all;
    for (const char* name : {"lstm", "gru"})
      for (const Variable& v : dynamic_cast<RecurrentLayer&>(*model.get_layer(name)).states())
        all.push_back(v.value().clone());
    return all;
  };
  for (int step = 0; step < 3; ++step) {
    const Tensor x = waves({7, 4, 3}, step, 0.7);
    const Tensor expected = single.predict(x).leaf(), got = many.predict(x).leaf();
    for (int64_t i = 0; i < expected.count(); ++i)
      EXPECT_NEAR(got.at(i), expected.at(i), 1e-6) << "step " << step;
    const auto ours = states(twin), theirs = states(single);
    ASSERT_EQ(ours.size(), 3u);
    for (size_t s = 0; s < ours.size(); ++s)
      for (int64_t i = 0; i < ours[s].count(); ++i)
        EXPECT_NEAR(ours[s].at(i), theirs[s].at(i), 1e-6) << "state " << s << ", step " << step;
  }
  expect_user_error(
      [&] {
        many.predict(waves({6, 4, 3}, 0, 0.7));
      },
      "variable 'lstm/rnn_state' holds the state of 7 samples; the batch has 6");
}

TEST_F(MultiGpu, RefusesANestedReplicatedModel) {
  const Model inner = multi_gpu_model(small_model(), {.gpus = 2});
  const auto x = Input({3});
  const Model outer({.inputs = x, .outputs = inner(x)});
  const Model many = multi_gpu_model(outer, {.gpus = 2});
  expect_user_error(
      [&] {
        many.predict(waves({8, 3}, 0, 0.1));
      },
      "a model that runs on several devices cannot be a part of another");
}

// Keras's own tests, on eight GPUs and on some of them.
class KerasTests : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 8);
    set_random_seed(7);
  }
  void TearDown() override { set_logical_devices("gpu", 0); }

  // Two epochs over 1000 samples, as one device would.
  static void check(Model (*make)(), const Tree<Tensor>& x, const Tree<Tensor>& y) {
    for (const Gpus& gpus : {Gpus(8), Gpus({0, 2, 4})}) {
      Model one = make();
      const Model made = make();
      made.layer()->set_weights(one.get_weights());
      Model many = multi_gpu_model(made, {.gpus = gpus});
      for (Model* model : {&one, &many}) {
        model->compile({.optimizer = "rmsprop", .loss = "mse"});
        model->fit(x, y, {.epochs = 2, .verbose = 0, .shuffle = false});
      }
      const auto got = made.get_weights(), expected = one.get_weights();
      for (size_t w = 0; w < got.size(); ++w)
        for (int64_t i = 0; i < got[w].count(); ++i)
          ASSERT_NEAR(got[w].at(i), expected[w].at(i), 1e-4) << "weight " << w;
    }
  }
};

TEST_F(KerasTests, SimpleModel) {
  check(
      [] {
        return Model(Sequential({Input({10}).layer(), Dense({.units = 10}), Dense({.units = 10})}));
      },
      waves({1000, 10}, 0), waves({1000, 10}, 1));
}

TEST_F(KerasTests, SeveralInputsAndOutputs) {
  check(
      [] {
        const auto a = Input({10}), b = Input({10});
        const SymbolicTensor both =
            Concatenate()({Dense({.units = 10})(a), Dense({.units = 10})(b)});
        return Model({.inputs = Symbols{a, b},
                      .outputs = Symbols{Dense({.units = 10})(both), Dense({.units = 10})(both)}});
      },
      Tree<Tensor>::List{waves({1000, 10}, 0), waves({1000, 10}, 1)},
      Tree<Tensor>::List{waves({1000, 10}, 2), waves({1000, 10}, 3)});
}

// The state is an input of the model, and is split as the sequence is.
TEST_F(KerasTests, AnInputMayBeAnInitialState) {
  check(
      [] {
        const auto x = Input({4, 3}), state = Input({5});
        return Model({.inputs = Symbols{x, state},
                      .outputs = SimpleRNN({.units = 5})(x, {{"initial_state", state}})});
      },
      Tree<Tensor>::List{waves({1000, 4, 3}, 0), waves({1000, 5}, 1)}, waves({1000, 5}, 2));
}

}  // namespace
}  // namespace keratin

#include "keratin/distribute/multi_gpu_model.h"

#include <gtest/gtest.h>

#include "keratin/layers/layers.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

class MultiGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 4);
    set_random_seed(7);
  }
  void TearDown() override { set_logical_devices("gpu", 0); }
};

Tensor ramp(const Shape& shape, double from, double step) {
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(from + step * static_cast<double>(i));
  return Tensor::of(DType::f32, shape, values);
}

Model small_model() {
  const auto x = Input({3});
  return Model(
      {.inputs = x, .outputs = Dense({.units = 2})(Dense({.units = 5, .activation = "tanh"})(x))});
}

TEST_F(MultiGpu, WantsTwoOrMoreThatAreThere) {
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
  set_logical_devices("gpu", 0);
  expect_user_error([&] { multi_gpu_model(model); }, "Received: `gpus=0`");
}

TEST_F(MultiGpu, AModelOfADeviceThatIsGoneIsRefused) {
  const Model parallel = multi_gpu_model(small_model(), {.gpus = 4});
  set_logical_devices("gpu", 2);
  expect_user_error(
      [&] {
        parallel.predict(ramp({8, 3}, 0, 0.1));
      },
      "compile: there is no device gpu:2; there are 3, the last is gpu:1");
}

TEST_F(MultiGpu, NamesItsOutputsAsKeras) {
  const auto a = Input({3}), b = Input({3});
  const Model nested = small_model();
  const SymbolicTensor one = nested(a), other = nested(b);
  const Model model(
      {.inputs = Symbols{a, b}, .outputs = Symbols{Add({}, "add")({one, other}), one, other}});
  const Model parallel = multi_gpu_model(model, {.gpus = 2});
  std::vector<std::string> names;
  for (const SymbolicTensor& t : parallel.outputs()) names.push_back(t.layer()->name());
  EXPECT_EQ(names, (std::vector<std::string>{"add", nested.name() + "_1", nested.name() + "_2"}));
}

TEST_F(MultiGpu, RunsEveryPartOnItsDevice) {
  const Model parallel = multi_gpu_model(small_model(), {.gpus = {1, 3}});
  const std::string plan = parallel.program(ramp({8, 3}, 0, 0.1))->executable().describe();
  EXPECT_NE(plan.find("gpu:1 matmul"), std::string::npos) << plan;
  EXPECT_NE(plan.find("gpu:3 matmul"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("gpu:0"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("cpu:0 matmul"), std::string::npos) << plan;
}

TEST_F(MultiGpu, TrainsTheTemplate) {
  for (const bool relocate : {false, true})
    for (const bool cpu_merge : {true, false})
      for (const int64_t batch : {1, 7, 10, 64}) {
        const Model single = small_model(), twin = small_model();
        Model(twin).set_weights(single.get_weights());
        const Tensor x = ramp({batch, 3}, 0, 0.7), y = ramp({batch, 2}, 1, 0.3);
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

TEST_F(MultiGpu, SavesAndLoadsTheTemplate) {
  const Model model = small_model();
  Model parallel = multi_gpu_model(model, {.gpus = 2});
  parallel.compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = ramp({10, 3}, 0, 0.7), y = ramp({10, 2}, 1, 0.3);
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
  // Weights go both ways between the two.
  parallel.save_weights(folder / "w.weights.h5");
  const Model other = small_model();
  Model(other).load_weights(folder / "w.weights.h5");
  EXPECT_EQ(other.predict(x).leaf().to_vector(), model.predict(x).leaf().to_vector());
  Model many = multi_gpu_model(small_model(), {.gpus = 2});
  many.load_weights(folder / "w.weights.h5");
  EXPECT_EQ(many.predict(x).leaf().to_vector(), model.predict(x).leaf().to_vector());
  std::filesystem::remove_all(folder);
}

// The report that started it: a Lambda with two outputs, relocated and replicated.
TEST_F(MultiGpu, TheOriginalReport) {
  const auto x = Input({1});
  const Lambda split([](const Values& in) { return Results(Results::List{in[0], in[0] + in[0]}); });
  const std::vector<SymbolicTensor> parts = split(x).flat();
  ASSERT_EQ(parts.size(), 2u);
  const Model model({.inputs = x, .outputs = Dense({.units = 1})(Add()({parts[0], parts[1]}))});
  Model parallel = multi_gpu_model(model, {.gpus = 2, .cpu_relocation = true});
  parallel.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  const Tensor in = ramp({20, 1}, 0, 0.2), out = ramp({20, 1}, 0.5, 0.2);
  const auto before = model.get_weights();
  const History history = parallel.fit(in, out, {.epochs = 3, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  EXPECT_NE(model.get_weights()[0].at(0), before[0].at(0))
      << "the user's model must see the updates";
  const Tensor one = model.predict(in).leaf(), many = parallel.predict(in).leaf();
  for (int64_t i = 0; i < one.count(); ++i) EXPECT_EQ(many.at(i), one.at(i));
}

}  // namespace
}  // namespace keratin

// Layers and variables on devices: where steps run, which transfers there are, and that the numbers
// stay the same.
#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/engine/devices.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/model.h"
#include "keratin/model/program.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::waves;

class Devices : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 2);
    set_random_seed(3);
    clear_session();
  }
  void TearDown() override { set_logical_devices("gpu", 0); }
};

SymbolicTensor dense_on(std::string_view device, int64_t units, const SymbolicTensor& x) {
  const auto scope = device_scope(device);
  return Dense({.units = units, .activation = "tanh"})(x);
}

// dense on gpu:0, dense_1 on gpu:1, dense_2 outside all scopes.
Model staged() {
  const auto x = Input({3});
  const SymbolicTensor y = dense_on("gpu:1", 4, dense_on("gpu:0", 5, x));
  return Model({.inputs = x, .outputs = Dense({.units = 2})(y)});
}

TEST_F(Devices, AScopeRefusesAnUnknownDevice) {
  expect_user_error([] { (void)device_scope("gpu:2"); },
                    "device_scope: there is no device gpu:2; there are 3, the last is gpu:1");
  expect_user_error([] { (void)device_scope("hpu:0"); }, "expected a name like 'cpu:0'");
}

TEST_F(Devices, VariablesAreStoredOnTheScopesDevice) {
  const size_t before = memory_use(Device("gpu:1")).used;
  Variable here({.name = "a", .shape = {8}}), there;
  {
    const auto scope = device_scope("gpu:1");
    there = Variable({.name = "b", .shape = {8}, .initializer = "ones"});
  }
  EXPECT_EQ(here.device(), Device{});
  EXPECT_EQ(there.device(), Device("gpu:1"));
  EXPECT_EQ(memory_use(Device("gpu:1")).used, before) << "memory is used before the value is read";
  EXPECT_EQ(there.value().at(7), 1);
  EXPECT_EQ(memory_use(Device("gpu:1")).used, before + 32);
  there.move_to(Device{});
  EXPECT_EQ(there.device(), Device{});
  EXPECT_EQ(there.value().at(7), 1);
  EXPECT_EQ(memory_use(Device("gpu:1")).used, before);
}

TEST_F(Devices, LayersRunOnTheScopesDevice) {
  const Model model = staged();
  std::vector<std::string> devices;
  for (const Variable& v : model.weights()) devices.push_back(text(v.path(), ' ', v.device()));
  EXPECT_EQ(devices, (std::vector<std::string>{"dense/kernel gpu:0", "dense/bias gpu:0",
                                               "dense_1/kernel gpu:1", "dense_1/bias gpu:1",
                                               "dense_2/kernel cpu:0", "dense_2/bias cpu:0"}));
  // A clone belongs to the scope in which it is made, not to the device of its source.
  const auto scope = device_scope("cpu:0");
  for (const Variable& v : clone_model(model).weights()) EXPECT_EQ(v.device(), Device{});
}

TEST_F(Devices, ThePlanShowsDevicesAndTransfers) {
  const Model model = staged();
  const std::string plan =
      model.program(waves({8, 3}, 0), {.engine = {.threads = 1}})->executable().describe();
  const auto says = [&](const std::string& words) {
    EXPECT_NE(plan.find(words), std::string::npos) << words << "\nin\n" << plan;
  };
  // The input goes to the first device, the hidden layer to the second; weights are stored there
  // already, except those of the last layer, which are sent from cpu:0.
  says("\n  gpu:0: 2 steps, ");
  says(" 1 transfers of 96 bytes\n");
  says(" from cpu:0, 96 bytes [dense]\n");
  says(" from gpu:0, 160 bytes [dense_1] after 3\n");
  says(" from cpu:0, 32 bytes [dense_2]");
  says(" from cpu:0, 8 bytes [dense_2]");
  EXPECT_EQ(plan.find("from gpu:1"), std::string::npos) << plan;
}

TEST_F(Devices, TrainsToTheSameWeights) {
  for (const char* optimizer : {"sgd", "adam", "rmsprop"}) {
    Model staged_model = staged(), plain = clone_model(staged_model);
    plain.set_weights(staged_model.get_weights());
    const Tensor x = waves({7, 3}, 0), y = waves({7, 2}, 1);
    for (Model* model : {&staged_model, &plain}) {
      model->compile(
          {.optimizer = Optimizer::from_json(Optimizer(optimizer).to_json()), .loss = "mse"});
      for (int i = 0; i < 20; ++i) model->train_on_batch(x, y);
    }
    const auto got = staged_model.get_weights(), expected = plain.get_weights();
    for (size_t w = 0; w < got.size(); ++w)
      EXPECT_EQ(got[w].to_vector(), expected[w].to_vector()) << optimizer << ", weight " << w;
    // Slots of the optimizer are stored beside the weights.
    for (const Variable& v : staged_model.optimizer().variables()) {
      if (v.path().find("dense_1_") == std::string::npos) continue;
      EXPECT_EQ(v.device(), Device("gpu:1")) << v.path();
    }
  }
}

TEST_F(Devices, VariablesMayMoveBetweenSteps) {
  Model moved = staged(), plain = clone_model(moved);
  plain.set_weights(moved.get_weights());
  const Tensor x = waves({7, 3}, 0), y = waves({7, 2}, 1);
  for (Model* model : {&moved, &plain}) model->compile({.optimizer = "adam", .loss = "mse"});
  for (int i = 0; i < 6; ++i) {
    if (i % 2 == 1)
      for (const Variable& v : moved.weights())
        v.move_to(v.device() == Device{} ? Device("gpu:1") : Device{});
    EXPECT_EQ(moved.train_on_batch(x, y).at("loss"), plain.train_on_batch(x, y).at("loss")) << i;
    EXPECT_EQ(moved.predict(x).leaf(), plain.predict(x).leaf()) << i;
  }
}

TEST_F(Devices, LoopsAndTablesRunOnTheirLayersDevice) {
  const auto ids = Input(InputOptions{.shape = {6}, .dtype = DType::i32});
  SymbolicTensor y;
  {
    const auto scope = device_scope("gpu:1");
    const SymbolicTensor words =
        Embedding({.input_dim = 9, .output_dim = 4, .mask_zero = true})(ids);
    y = LSTM({.units = 3})(words);
  }
  const Model model({.inputs = ids, .outputs = y}), plain = clone_model(model);
  Model(plain).set_weights(model.get_weights());
  std::vector<double> values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 5 % 9);
  const Tensor x = Tensor::of(DType::i32, {4, 6}, values);
  EXPECT_EQ(model.predict(x).leaf(), plain.predict(x).leaf());
  const std::string plan = model.program(x)->executable().describe();
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    const bool here = line.find("cpu:0 ") != std::string::npos;
    if (!here || line.find("cpu:0 transfer") != std::string::npos) continue;
    EXPECT_NE(line.find("copy"), std::string::npos) << plan;
  }
}

}  // namespace
}  // namespace keratin

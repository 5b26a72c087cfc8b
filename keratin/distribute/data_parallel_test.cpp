#include "keratin/distribute/data_parallel.h"

#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/layers/layers.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"

namespace keratin::distribute {
namespace {

using testing::waves;

class DataParallelTest : public ::testing::Test {
 protected:
  DataParallelTest() {
    set_logical_devices("cpu", 4);
    set_random_seed(11);
  }
  ~DataParallelTest() override { set_logical_devices("cpu", 1); }

  static std::vector<std::string> first(int count) {
    auto names = list_devices("cpu");
    names.resize(static_cast<size_t>(count));
    return names;
  }
};

Model mlp() {
  const auto x = Input({6});
  const Symbols y = Dense({.units = 20, .activation = "tanh"})(x);
  return Model({.inputs = x, .outputs = Dense({.units = 3})(y)});
}

Model convnet() {
  const auto x = Input({8, 8, 2});
  Symbols y = Conv2D({.filters = 4, .kernel_size = {3, 3}, .activation = "relu"})(x);
  y = Flatten()(MaxPooling2D({.pool_size = {2, 2}})(y));
  return Model({.inputs = x, .outputs = Dense({.units = 3})(y)});
}

Model masked_lstm() {
  const auto x = Input({5, 2});
  const Symbols y = LSTM({.units = 4})(Masking({.mask_value = 0})(x));
  return Model({.inputs = x, .outputs = Dense({.units = 3})(y)});
}

void expect_near(const Tensor& got, const Tensor& expected, double tolerance) {
  ASSERT_EQ(got.shape(), expected.shape());
  for (int64_t i = 0; i < got.count(); ++i)
    ASSERT_NEAR(got.at(i), expected.at(i), tolerance) << "element " << i;
}

// Whatever the number of devices and samples, it is the model that it was.
TEST_F(DataParallelTest, EqualsOneDevice) {
  struct Case {
    const char* name;
    Model (*make)();
    Dims sample;
  };
  for (const Case& c : {Case{"mlp", mlp, {6}}, Case{"convnet", convnet, {8, 8, 2}},
                        Case{"masked lstm", masked_lstm, {5, 2}}}) {
    for (const int count : {1, 2, 3, 4}) {
      Model one = c.make(), twin = c.make();
      twin.set_weights(one.get_weights());
      Model many = distribute(twin, DataParallel({.devices = first(count)}));
      for (Model* model : {&one, &many})
        model->compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
      int step = 0;
      for (const int64_t batch : {1, 7, 10, 64, 7}) {
        SCOPED_TRACE(text(c.name, " on ", count, " devices, batch ", batch));
        Dims dims{batch};
        dims.insert(dims.end(), c.sample.begin(), c.sample.end());
        const Tensor x = waves(Shape(dims), batch), y = waves({batch, 3}, 1);
        expect_near(many.predict(x).leaf(), one.predict(x).leaf(), 1e-6);
        for (int i = 0; i < 4; ++i, ++step)
          EXPECT_NEAR(many.train_on_batch(x, y).at("loss"), one.train_on_batch(x, y).at("loss"),
                      1e-5)
              << "step " << step;
      }
      const auto expected = one.get_weights(), got = twin.get_weights();
      for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], expected[i], 1e-5);
    }
  }
}

TEST_F(DataParallelTest, SplitsEvenly) {
  std::vector<int64_t> parts;
  const auto x = Input({3});
  const Model model({.inputs = x, .outputs = Lambda([&](const Call& c) {
                                    if (c.replica() != nullptr)
                                      parts.push_back(c.replica()->end - c.replica()->begin);
                                    return c.input();
                                  })(x)});
  const Model many = distribute(model, DataParallel({.devices = first(4)}));
  for (const auto& [batch, expected] : std::map<int64_t, std::vector<int64_t>>{
           {12, {3, 3, 3, 3}}, {7, {1, 2, 2, 2}}, {2, {1, 1}}}) {
    parts.clear();
    many.predict(waves({batch, 3}));
    EXPECT_EQ(parts, expected) << "batch " << batch;
  }
}

// Each device takes its share of the optimizer's step.
TEST_F(DataParallelTest, VariablesAreSpreadOverTheDevices) {
  const Model model = mlp();
  distribute(model, DataParallel({.devices = first(2)}));
  std::map<std::string, int64_t> elements;
  for (const Variable& variable : model.weights())
    elements[text(variable.device())] += variable.shape().count();
  EXPECT_EQ(elements, (std::map<std::string, int64_t>{{"cpu:0", 120}, {"cpu:1", 83}}));
}

TEST_F(DataParallelTest, SpeaksKerassWords) {
  const DataParallel all;
  EXPECT_EQ(all.num_model_replicas(), 4);
  EXPECT_EQ(all.batch_dim_name(), "batch");
  EXPECT_EQ(all.get_data_layout({32, 8}).axes(), (TensorLayout::Axes{"batch", std::nullopt}));
  EXPECT_EQ(all.get_variable_layout(mlp().weights()[0]).axes(),
            (TensorLayout::Axes{std::nullopt, std::nullopt}));
  ::testing::internal::CaptureStderr();
  const DataParallel square(
      {.device_mesh = DeviceMesh({.shape = {2, 2}, .axis_names = {"data", "model"}})});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                "Expect the input mesh to be 1D, but received mesh.devices.ndim=2. The first axis "
                "will be used for data-parallel sharding."),
            std::string::npos);
  EXPECT_EQ(square.num_model_replicas(), 2);
  EXPECT_EQ(square.batch_dim_name(), "data");
  testing::expect_user_error([&] { all.get_data_layout({}); }, "have no batch axis");
  testing::expect_user_error([] { DataParallel({.devices = {"gpu:0"}}); },
                             "DeviceMesh: there is no device 'gpu:0'");
}

}  // namespace
}  // namespace keratin::distribute

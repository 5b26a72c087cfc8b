#include "keratin/distribute/data_parallel.h"

#include <gtest/gtest.h>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/input.h"
#include "keratin/graph/replication.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/layers/layers.h"
#include "keratin/model/program.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"
#include "keratin/train/trainer.h"

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

void expect_equal_copies(const Variable& v) {
  const VariableShards* mirrors = shards_of(v);
  if (mirrors == nullptr) return;
  for (const Variable& copy : mirrors->shards) {
    EXPECT_EQ(copy.value().to_vector(), v.value().to_vector()) << copy.path();
  }
}

// For all numbers of devices and samples, the model computes what it computed before.
TEST_F(DataParallelTest, EqualsOneDevice) {
  struct Case {
    const char* name;
    Model (*make)();
    Dims sample;
  };
  for (const Case& c : {Case{"mlp", mlp, {6}}, Case{"convnet", convnet, {8, 8, 2}},
                        Case{"masked lstm", masked_lstm, {5, 2}}}) {
    for (const auto& [count, mirror] : {std::pair{1, false},
                                        {2, false},
                                        {2, true},
                                        {3, false},
                                        {3, true},
                                        {4, false},
                                        {4, true}}) {
      Model one = c.make(), twin = c.make();
      twin.set_weights(one.get_weights());
      Model many =
          distribute(twin, DataParallel({.devices = first(count), .mirror_variables = mirror}));
      for (Model* model : {&one, &many})
        model->compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
      int step = 0;
      for (const int64_t batch : {1, 7, 10, 64, 7}) {
        SCOPED_TRACE(
            text(c.name, " on ", count, " devices, batch ", batch, mirror ? ", mirrored" : ""));
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

// Gradients are summed by one node for a bucket, which is decomposed where no library runs it; the
// bits are the same, unless real GPUs compute them.
TEST_F(DataParallelTest, GpusLearnWhatOtherDevicesLearn) {
  const int gpus = cuda::device_count();
  const double tolerance = gpus > 0 ? 1e-4 : 0;
  set_logical_devices("gpu", 3);
  for (const auto& options : {OptimizerOptions{.global_clipnorm = 0.1},
                              OptimizerOptions{.gradient_accumulation_steps = 2}}) {
    const Model first_weights = convnet();
    const auto learnt = [&](const std::string& kind) {
      Model model = convnet();
      model.set_weights(first_weights.get_weights());
      Model many = distribute(
          model, DataParallel({.devices = list_devices(kind), .mirror_variables = true}));
      many.compile({.optimizer = Adam({.learning_rate = 0.01}, options), .loss = "mse"});
      for (const int64_t batch : {10, 1, 10, 7, 10})
        many.train_on_batch(waves({batch, 8, 8, 2}, batch), waves({batch, 3}, 1));
      for (const Variable& v : model.weights()) expect_equal_copies(v);
      return model.get_weights();
    };
    set_logical_devices("cpu", 3);
    const auto expected = learnt("cpu"), got = learnt("gpu");
    for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], expected[i], tolerance);
  }
  set_logical_devices("gpu", gpus);
}

TEST_F(DataParallelTest, SplitsEvenly) {
  std::vector<int64_t> sizes;
  const auto x = Input({3});
  const Model model({.inputs = x, .outputs = Lambda([&](const Call& c) {
                                    if (const Replication* all = c.tracer().replication())
                                      sizes.push_back(all->replica().end - all->replica().begin);
                                    return c.input();
                                  })(x)});
  const Model many = distribute(model, DataParallel({.devices = first(4)}));
  for (const auto& [batch, expected] : std::map<int64_t, std::vector<int64_t>>{
           {12, {3, 3, 3, 3}}, {7, {1, 2, 2, 2}}, {2, {1, 1}}}) {
    sizes.clear();
    many.predict(waves({batch, 3}));
    EXPECT_EQ(sizes, expected) << "batch " << batch;
  }
}

TEST_F(DataParallelTest, AModelMadeByDistributeIgnoresTheScope) {
  const DataParallel two({.devices = first(2)});
  const auto scope = two.scope();
  const Model model = mlp();
  const Model many = distribute(model, DataParallel({.devices = first(3)}));
  const std::string plan = many.program(waves({6, 6}))->executable().describe();
  EXPECT_NE(plan.find("cpu:2 matmul"), std::string::npos) << plan;
}

// Frozen when compiled and unfrozen afterwards, as without a distribution.
TEST_F(DataParallelTest, TrainsWhatTheModelTrains) {
  const DataParallel two({.devices = first(2)});
  for (const bool distributed : {false, true}) {
    const std::optional<DistributionScope> scope =
        distributed ? std::optional<DistributionScope>(std::in_place, two.shared()) : std::nullopt;
    Model model = mlp();
    const auto before = model.get_weights();
    model.set_trainable(false);
    model.compile({.optimizer = "sgd", .loss = "mse"});
    model.set_trainable(true);
    model.train_on_batch(waves({6, 6}), waves({6, 3}, 1));
    EXPECT_NE(model.get_weights()[0], before[0]) << distributed;
  }
}

// Each device makes its share of the optimizer's step.
TEST_F(DataParallelTest, VariablesAreSpreadOverTheDevices) {
  const Model model = mlp();
  distribute(model, DataParallel({.devices = first(2)}));
  std::map<std::string, int64_t> elements;
  for (const Variable& variable : model.weights())
    elements[text(variable.device())] += variable.shape().count();
  EXPECT_EQ(elements, (std::map<std::string, int64_t>{{"cpu:0", 83}, {"cpu:1", 120}}));
}

// Clipping, averages, accumulation, regularizers, constraints: each device computes the same.
TEST_F(DataParallelTest, EveryOptimizerStepsOnEachMirroredCopy) {
  const auto make = [] {
    const auto x = Input({6});
    const Symbols y = Dense({.units = 8,
                             .activation = "tanh",
                             .kernel_regularizer = regularizers::L2(0.1),
                             .kernel_constraint = constraints::MaxNorm(0.9)})(x);
    return Model({.inputs = x, .outputs = Dense({.units = 3})(y)});
  };
  const std::map<std::string, std::function<Optimizer()>> optimizers = {
      {"clipnorm", [] { return Optimizer(SGD({.learning_rate = 0.1}, {.clipnorm = 0.1})); }},
      {"global", [] { return Optimizer(Adam({}, {.global_clipnorm = 0.1})); }},
      {"decay", [] { return Optimizer(AdamW({.weight_decay = 0.1})); }},
      {"ema", [] { return Optimizer(Adam({}, {.use_ema = true, .ema_overwrite_frequency = 3})); }},
      {"accumulated", [] { return Optimizer(Adam({}, {.gradient_accumulation_steps = 2})); }},
      {"scaled", [] { return Optimizer(LossScaleOptimizer({.inner_optimizer = Adam()})); }},
      {"muon", [] { return Optimizer(Muon({.learning_rate = 0.01})); }},
      {"lamb", [] { return Optimizer(Lamb()); }},
  };
  for (const auto& [name, optimizer] : optimizers) {
    SCOPED_TRACE(name);
    Model one = make(), twin = make();
    twin.set_weights(one.get_weights());
    Model many = distribute(twin, DataParallel({.devices = first(3), .mirror_variables = true}));
    for (Model* model : {&one, &many}) model->compile({.optimizer = optimizer(), .loss = "mse"});
    const Tensor x = waves({7, 6}), y = waves({7, 3}, 1);
    for (int i = 0; i < 7; ++i)
      EXPECT_NEAR(many.train_on_batch(x, y).at("loss"), one.train_on_batch(x, y).at("loss"), 1e-5);
    const auto expected = one.get_weights(), got = twin.get_weights();
    for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], expected[i], 1e-5);
    for (const auto& variables : {twin.weights(), many.optimizer().variables()})
      for (const Variable& v : variables) expect_equal_copies(v);
  }
}

// Weights are not sent: every device makes the whole step.
TEST_F(DataParallelTest, EachMirroredCopyMakesItsOwnStep) {
  for (const bool mirror : {false, true}) {
    Model many = distribute(mlp(), DataParallel({.devices = first(3), .mirror_variables = mirror}));
    many.compile({.optimizer = "adam", .loss = "mse"});
    const Tensor x = waves({9, 6}), y = waves({9, 3}, 1);
    std::string all;
    int updates = 0;
    for (const auto& step : many.trainer().profile({.x = x, .y = y}, 1)) {
      all += step.step + '\n';
      if (step.step.find("sub mul add mul") != std::string::npos) ++updates;
    }
    EXPECT_EQ(updates, mirror ? 3 * 4 : 4) << all;
  }
}

// Each device has a copy, of the slots too, and makes its own step; other code sees one variable.
TEST_F(DataParallelTest, AMirroredVariableLooksLikeOneVariable) {
  Model twin = mlp();
  const auto before = twin.get_weights();
  Model many = distribute(twin, DataParallel({.devices = first(2), .mirror_variables = true}));
  const Variable kernel = twin.weights()[0];
  ASSERT_NE(shards_of(kernel), nullptr);
  EXPECT_TRUE(shards_of(kernel)->mirrored());
  EXPECT_EQ(shards_of(kernel)->devices(), (std::vector{Device("cpu:0"), Device("cpu:1")}));
  EXPECT_EQ(twin.get_weights(), before);
  many.compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = waves({8, 6}), y = waves({8, 3}, 1);
  many.train_on_batch(x, y);
  int slots = 0;
  for (const Variable& slot : many.optimizer().variables())
    slots += shards_of(slot) != nullptr && shards_of(slot)->mirrored() ? 1 : 0;
  EXPECT_EQ(slots, 8);

  const Tensor ones = Tensor::full(DType::f32, {6, 20}, 1);
  kernel.assign(ones);
  for (const Variable& copy : shards_of(kernel)->shards) EXPECT_EQ(copy.value(), ones);
  EXPECT_EQ(kernel.value(), ones);
  expect_near(many.predict(x).leaf(), twin.predict(x).leaf(), 1e-6);

  // Mirrored again only for other devices; and whole again.
  distribute(twin, DataParallel({.devices = first(3), .mirror_variables = true}));
  EXPECT_EQ(shards_of(kernel)->shards.size(), 3U);
  const uint64_t moves = Variable::moves();
  distribute(twin, DataParallel({.devices = first(3), .mirror_variables = true}));
  EXPECT_EQ(Variable::moves(), moves);
  distribute(twin, DataParallel({.devices = first(2), .mirror_variables = false}));
  EXPECT_EQ(shards_of(kernel), nullptr);
  EXPECT_EQ(kernel.value(), ones);
  set_logical_devices("gpu", 2);  // where sending costs
  EXPECT_TRUE(DataParallel({.devices = {"gpu:0", "gpu:1"}}).mirrors_variables());
  set_logical_devices("gpu", 0);
  EXPECT_FALSE(DataParallel().mirrors_variables());
}

TEST_F(DataParallelTest, HasKerasInterface) {
  const DataParallel all;
  EXPECT_EQ(all.num_model_replicas(), 4);
  EXPECT_EQ(all.batch_dim_name(), "batch");
  EXPECT_FALSE(all.get_tensor_layout("dense/output"));
  EXPECT_TRUE(all.auto_shard_dataset());
  DataParallel shared({.auto_shard_dataset = false});
  EXPECT_FALSE(shared.auto_shard_dataset());
  shared.set_auto_shard_dataset(true);
  EXPECT_TRUE(shared.shared()->auto_shard_dataset());
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
  EXPECT_EQ(square.num_model_replicas(), 2) << "those that split the batch";
  EXPECT_EQ(square.batch_dim_name(), "data");
  testing::expect_user_error([&] { all.get_data_layout({}); }, "have no batch axis");
  testing::expect_user_error([] { DataParallel({.devices = {"gpu:0"}}); },
                             "DeviceMesh: there is no device 'gpu:0'");
}

}  // namespace
}  // namespace keratin::distribute

#include "keratin/distribute/model_parallel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "keratin/base/text.h"
#include "keratin/callbacks/callbacks.h"
#include "keratin/distribute/data_parallel.h"
#include "keratin/graph/input.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/program.h"
#include "keratin/model/saving.h"
#include "keratin/model/summary.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"

namespace keratin::distribute {
namespace {

using testing::expect_user_error;
using testing::waves;

Model two_dense() {
  const auto x = Input({6});
  const Symbols y = Dense({.units = 20, .activation = "tanh"}, "up")(x);
  return Model({.inputs = x, .outputs = Dense({.units = 4}, "down")(y)});
}

DeviceMesh mesh(int64_t batch, int64_t model) {
  auto names = list_devices("cpu");
  names.resize(static_cast<size_t>(batch * model));
  return DeviceMesh({.shape = {batch, model}, .axis_names = {"batch", "model"}, .devices = names});
}

// Columns of the first kernel, rows of the second: the values between them stay sharded.
ModelParallel megatron(const DeviceMesh& devices) {
  LayoutMap map(devices);
  map.set("up/kernel", {std::nullopt, "model"});
  map.set("up/bias", {"model"});
  map.set("down/kernel", {"model", std::nullopt});
  return ModelParallel({.layout_map = map});
}

ModelParallel with(const std::string& key, const TensorLayout& layout) {
  LayoutMap map(mesh(2, 2));
  map.set(key, layout);
  return ModelParallel({.layout_map = map, .batch_dim_name = "batch"});
}

class ModelParallelTest : public ::testing::Test {
 protected:
  ModelParallelTest() {
    set_logical_devices("cpu", 4);
    set_random_seed(11);
  }
  ~ModelParallelTest() override {
    set_distribution(nullptr);
    set_logical_devices("cpu", 1);
  }
};

TEST_F(ModelParallelTest, HasKerasInterface) {
  const ModelParallel given = with("d/kernel", {std::nullopt, "model"});
  EXPECT_EQ(given.num_model_replicas(), 2);
  EXPECT_EQ(given.batch_dim_name(), "batch");
  EXPECT_EQ(text(given),
            "<ModelParallel device_mesh=<DeviceMesh shape=(2, 2), axis_names=('batch', 'model')>>");
  EXPECT_EQ(given.get_data_layout({8, 3}).axes(), (TensorLayout::Axes{"batch", std::nullopt}));
  EXPECT_FALSE(given.get_tensor_layout("d/output"));
  Variable kernel({.name = "kernel", .shape = {4, 4}});
  EXPECT_EQ(given.get_variable_layout(kernel).axes(), TensorLayout::Axes(2));
  kernel.set_path("d/kernel");
  EXPECT_EQ(given.get_variable_layout(kernel).axes(), (TensorLayout::Axes{std::nullopt, "model"}));
  EXPECT_EQ(ModelParallel({.layout_map = LayoutMap(mesh(1, 4)), .batch_dim_name = "model"})
                .num_model_replicas(),
            4);
  EXPECT_TRUE(given.auto_shard_dataset());
  EXPECT_FALSE(ModelParallel({.layout_map = LayoutMap(mesh(1, 4)), .auto_shard_dataset = false})
                   .auto_shard_dataset());
}

TEST_F(ModelParallelTest, RefusesBadLayouts) {
  expect_user_error([] { ModelParallel({}); }, "You must specify a layout_map argument.");
  expect_user_error(
      [] { ModelParallel({.layout_map = LayoutMap(mesh(2, 2)), .batch_dim_name = "nope"}); },
      "the mesh has the axes ('batch', 'model'), not 'nope'");
  expect_user_error([] { with("up/kernel", {"x"}); },
                    "Invalid axis names for Layout. Valid axis names: {'batch', 'model'}, Got "
                    "{'x'}");
  const auto refused = [](const char* key, const TensorLayout& layout, const std::string& message) {
    expect_user_error([&] { distribute(two_dense(), with(key, layout)); }, message);
  };
  refused("up/kernel", {"model", "model"},
          "a layout can map every axis of the mesh to at most one axis of the variable");
  refused("up/bias", {std::nullopt, "model"}, "has 1 axes, its layout has 2");
  const auto x = Input({3});
  const Model odd({.inputs = x, .outputs = Dense({.units = 4}, "odd")(x)});
  expect_user_error(
      [&] {
        distribute(odd, with("odd/kernel", {"model", std::nullopt}));
      },
      "implies that axis 0 is partitioned 2 times, but the dimension size is 3 "
      "(full shape: (3, 4))");
  expect_user_error(
      [] {
        distribute(two_dense(),
                   with("up/kernel", TensorLayout({std::nullopt, "model"}, mesh(1, 2))));
      },
      "is not of the distribution's mesh");
  EXPECT_TRUE(shards_of(odd.weights()[0]) == nullptr);  // nothing was changed
}

// Each device stores its shard of the weights and of the optimizer's state, and no more.
TEST_F(ModelParallelTest, DevicesStoreTheirShards) {
  const auto x = Input({64});
  const Symbols wide = Dense({.units = 1024, .activation = "relu"}, "up")(x);
  const Model model({.inputs = x, .outputs = Dense({.units = 64}, "down")(wide)});
  for (const Variable& v : model.weights()) v.value();  // all of it is on cpu:0
  std::vector<size_t> before;
  for (const Device device : devices()) {
    before.push_back(memory_use(device).used);
    reset_memory_peak(device);
  }
  Model many = distribute(model, megatron(mesh(1, 4)));
  many.compile({.optimizer = Adam(), .loss = "mse"});
  const size_t kernels = 2 * 64 * 1024 * sizeof(float);
  const auto more = [&](size_t i) {
    return static_cast<double>(memory_use(devices()[i]).used) - static_cast<double>(before[i]);
  };
  EXPECT_NEAR(more(0), -0.75 * kernels, 8192);
  for (size_t i = 1; i < 4; ++i) EXPECT_NEAR(more(i), 0.25 * kernels, 2048) << devices()[i];
  many.train_on_batch(waves({8, 64}), waves({8, 64}, 1));
  // Momentum and velocity beside the weights; the rest is a program's working memory.
  for (const Variable& slot : many.optimizer().variables())
    if (slot.shape().count() == 64 * 1024) {
      ASSERT_NE(shards_of(slot), nullptr) << slot.path();
      ASSERT_EQ(shards_of(slot)->shards.size(), 4U);
      for (size_t j = 0; j < 4; ++j) EXPECT_EQ(shards_of(slot)->shards[j].device(), devices()[j]);
    }
  for (size_t i = 1; i < 4; ++i)
    EXPECT_LT(memory_use(devices()[i]).peak - before[i], 2 * kernels) << devices()[i];
}

// Matmuls run on the devices of the shards: no device ever stores a whole kernel.
TEST_F(ModelParallelTest, ComputesOnTheDevicesOfShards) {
  Model many = distribute(two_dense(), megatron(mesh(1, 2)));
  const std::string plan = many.program(waves({8, 6}))->executable().describe();
  int matmuls[2] = {0, 0};
  for (size_t at = plan.find("matmul"); at != std::string::npos; at = plan.find("matmul", at + 1)) {
    const std::string line = plan.substr(plan.rfind('\n', at) + 1, at - plan.rfind('\n', at));
    ++matmuls[line.find("cpu:1") != std::string::npos ? 1 : 0];
  }
  EXPECT_EQ(matmuls[0], 2) << plan;
  EXPECT_EQ(matmuls[1], 2) << plan;
  EXPECT_EQ(plan.find("concat"), std::string::npos) << plan;
}

TEST_F(ModelParallelTest, ShardedVariablesLookWhole) {
  const Model one = two_dense();
  Model twin = two_dense();
  twin.set_weights(one.get_weights());
  Model many = distribute(twin, megatron(mesh(2, 2)));
  ASSERT_NE(shards_of(twin.weights()[0]), nullptr);
  const uint64_t moves = Variable::moves();
  distribute(twin, megatron(mesh(2, 2)));  // they lie there already
  EXPECT_EQ(Variable::moves(), moves);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(many.get_weights()[i], one.get_weights()[i]);

  const Tensor x = waves({7, 6}), y = waves({7, 4}, 1);
  many.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
  many.fit(x, y, {.epochs = 2, .verbose = 0});
  const auto expected = many.predict(x).leaf();
  const auto folder = std::filesystem::temp_directory_path() / "keratin_model_parallel";
  std::filesystem::create_directories(folder);
  many.save(folder / "m.keras");
  many.save_weights(folder / "m.weights.h5");
  Model loaded = load_model(folder / "m.keras");
  EXPECT_EQ(loaded.optimizer().iterations(), 2);
  const auto near = [&](const Tensor& got) {
    for (int64_t i = 0; i < got.count(); ++i) ASSERT_NEAR(got.at(i), expected.at(i), 1e-6);
  };
  near(loaded.predict(x).leaf());
  // Training continues the same with whole and with sharded variables.
  const double whole = loaded.train_on_batch(x, y).at("loss");
  many.reset_metrics();
  EXPECT_NEAR(many.train_on_batch(x, y).at("loss"), whole, 1e-6);
  many.load_weights(folder / "m.weights.h5");
  near(many.predict(x).leaf());
  near(twin.predict(x).leaf());
  Model copy = clone_model(twin);
  copy.set_weights(twin.get_weights());
  near(copy.predict(x).leaf());
  EXPECT_EQ(summary_text(twin), summary_text(loaded));
  std::filesystem::remove_all(folder);

  twin.weights()[0].move_to(Device{});  // whole again
  EXPECT_TRUE(shards_of(twin.weights()[0]) == nullptr);
  near(many.predict(x).leaf());
}

TEST_F(ModelParallelTest, ModelsMadeInAScopeAreDistributed) {
  EXPECT_EQ(distribution(), nullptr);
  const ModelParallel sharded = megatron(mesh(2, 2));
  std::optional<Model> many;
  {
    const auto scope = sharded.scope();
    EXPECT_EQ(text(*distribution()), text(sharded));
    many = two_dense();
    const auto inner = DataParallel().scope();
    EXPECT_EQ(distribution()->class_name(), "DataParallel");
  }
  EXPECT_EQ(distribution(), nullptr);
  Model one = two_dense();
  one.set_weights(many->get_weights());
  const Tensor x = waves({7, 6}), y = waves({7, 4}, 1);
  for (Model* model : {&one, &*many}) model->compile({.optimizer = "adam", .loss = "mse"});
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(many->train_on_batch(x, y).at("loss"), one.train_on_batch(x, y).at("loss"), 1e-6);
  EXPECT_NE(shards_of(many->weights()[0]), nullptr);
  EXPECT_EQ(many->weights()[0].path(), "up/kernel");
  EXPECT_TRUE(shards_of(one.weights()[0]) == nullptr);

  set_distribution(sharded);
  Sequential late({Dense({.units = 20}, "up"), Dense({.units = 4}, "down")});
  late.compile({.optimizer = "sgd", .loss = "mse"});
  late.fit(x, y, {.verbose = 0});
  EXPECT_EQ(late.weights()[0].path(), late.name() + "/up/kernel");
  set_distribution(nullptr);
  EXPECT_EQ(late.predict(x).leaf().shape(), (Shape{7, 4}));
}

// The output of `up` is sharded; `bend` is computed on its shards.
Model bent(const LambdaFunction& function = lambda_function([](Value v) { return v; })) {
  const auto x = Input({6});
  const SymbolicTensor up = Dense({.units = 10}, "up")(x);
  const SymbolicTensor bend = layers::Activation({.activation = "tanh"}, "bend")(up);
  return Model(
      {.inputs = x, .outputs = Dense({.units = 4}, "down")(Lambda(function, "scale")(bend))});
}

// The number of steps of a device whose line in the plan contains some words.
int count(const Model& model, const Tensor& x, const std::string& device, const std::string& what) {
  std::istringstream plan(model.program(x)->executable().describe());
  int found = 0;
  for (std::string line; std::getline(plan, line);)
    found += line.find(": " + device) != std::string::npos && line.find(what) != std::string::npos;
  return found;
}

void expect_trains_alike(const Model& twin, const ModelParallel& distribution) {
  Model one = clone_model(twin, {.copy_weights = true}), many = distribute(twin, distribution);
  for (Model* model : {&one, &many})
    model->compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
  for (const int64_t batch : {7, 1, 10}) {
    const Tensor x = waves({batch, 6}, batch), y = waves({batch, 4}, 1);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(many.train_on_batch(x, y).at("loss"), one.train_on_batch(x, y).at("loss"), 1e-5);
    const Tensor got = many.predict(x).leaf(), expected = one.predict(x).leaf();
    for (int64_t i = 0; i < got.count(); ++i) ASSERT_NEAR(got.at(i), expected.at(i), 1e-5);
  }
}

// Outputs of layers have the layouts of the map; the numbers are the same.
TEST_F(ModelParallelTest, OutputsHaveTheLayoutsOfTheMap) {
  const Tensor x = waves({8, 6});
  LayoutMap map(mesh(1, 2));
  EXPECT_EQ(count(distribute(bent(), ModelParallel({.layout_map = map})), x, "cpu:1", "[bend]"), 0);
  map.set("up/output", {"batch", "model"});
  EXPECT_EQ(count(distribute(bent(), ModelParallel({.layout_map = map})), x, "cpu:1", "[bend]"), 1);
  map.set("up/kernel", {std::nullopt, "model"});
  map.erase("up/output");
  EXPECT_EQ(count(distribute(bent(), ModelParallel({.layout_map = map})), x, "cpu:1", "[bend]"), 1);
  map.set("up/output", {"batch", std::nullopt});  // whole again
  EXPECT_EQ(count(distribute(bent(), ModelParallel({.layout_map = map})), x, "cpu:1", "[bend]"), 0);
  for (const TensorLayout& layout :
       {TensorLayout{"batch", "model"}, TensorLayout{std::nullopt, "model"}, TensorLayout{"batch"}})
    for (const bool kernel : {false, true}) {
      LayoutMap all(mesh(2, 2));
      all.set(".*/output", layout);
      if (kernel) all.set("down/kernel", {"model", std::nullopt});
      expect_trains_alike(bent(), ModelParallel({.layout_map = all}));
    }
}

// Also sizes that the mesh does not divide, and sizes smaller than the mesh.
TEST_F(ModelParallelTest, ShardsOutputsOfAnySize) {
  LayoutMap map(mesh(1, 4));
  map.set(".*/output", {std::nullopt, "model"});
  const auto x = Input({6});
  SymbolicTensor y = Dense({.units = 3, .activation = "tanh"})(x);
  y = Dense({.units = 7, .activation = "tanh"})(y);
  expect_trains_alike(Model({.inputs = x, .outputs = Dense({.units = 4})(y)}),
                      ModelParallel({.layout_map = map}));
}

class RecordedLayouts final : public Distribution {
 public:
  RecordedLayouts() : Distribution(mesh(1, 2), "batch", true) {}
  std::string_view class_name() const override { return "RecordedLayouts"; }
  std::shared_ptr<const Distribution> shared() const override {
    return std::make_shared<RecordedLayouts>(*this);
  }
  std::optional<TensorLayout> get_tensor_layout(const std::string& path) const override {
    paths->insert(path);
    return std::nullopt;
  }
  std::shared_ptr<std::set<std::string>> paths = std::make_shared<std::set<std::string>>();
};

// The paths that Keras 3.15 looks up.
TEST_F(ModelParallelTest, OutputsHaveKerassPaths) {
  const auto x = Input({6});
  const Sequential inner({Dense({.units = 4}, "in1")}, "inner");
  const SymbolicTensor rows =
      Reshape({.target_shape = {2, 2}}, "rs")(inner(SymbolicTensor(Dense({.units = 8}, "d1")(x))));
  const Model model({.inputs = x, .outputs = Dense({.units = 3}, "d2")(rows), .name = "whole"});
  const RecordedLayouts paths;
  distribute(model, paths).predict(waves({4, 6}));
  EXPECT_EQ(*paths.paths, (std::set<std::string>{"d1/output", "inner/in1/output", "inner/output",
                                                 "rs/output", "d2/output", "whole/output"}));
  paths.paths->clear();
  const auto scope = paths.scope();
  Sequential late({Dense({.units = 4}, "a"), layers::Activation({.activation = "relu"}, "b")},
                  "late");
  late.predict(waves({4, 6}));
  EXPECT_EQ(*paths.paths, (std::set<std::string>{"late/a/output", "late/b/output", "late/output"}));
}

TEST_F(ModelParallelTest, DistributeTensorShardsAValue) {
  const Tensor x = waves({8, 6});
  const auto cut = [](const TensorLayout& layout) {
    return lambda_function([=](Value v) { return distribute_tensor(v, layout) * 2.0 + 1.0; });
  };
  LayoutMap map(mesh(1, 2));
  const ModelParallel two({.layout_map = map}), four({.layout_map = LayoutMap(mesh(2, 2))});
  const TensorLayout columns({std::nullopt, "model"}, mesh(1, 2));
  EXPECT_EQ(count(distribute(bent(cut(columns)), two), x, "cpu:1", "mul add"), 1);
  expect_trains_alike(bent(cut(columns)), two);
  expect_trains_alike(bent(cut(TensorLayout({"batch", "model"}, mesh(2, 2)))), four);
  const auto samples = cut(TensorLayout({"batch"}, mesh(2, 2)));  // stay with their replica
  EXPECT_EQ(count(distribute(bent(samples), four), x, "cpu:2", "[scale]"), 1);
  expect_trains_alike(bent(samples), four);

  // Without a split batch, its axis is like any other: each device has a shard of the grid.
  const Model alone = bent(cut(TensorLayout({"batch", "model"}, mesh(2, 2))));
  for (const char* device : {"cpu:0", "cpu:1", "cpu:2", "cpu:3"})
    EXPECT_EQ(count(alone, x, device, "mul add"), 1) << device;
  const Model plain = bent(lambda_function([](Value v) { return v * 2.0 + 1.0; }));
  Model(plain).set_weights(alone.get_weights());
  const Tensor got = alone.predict(x).leaf(), expected = plain.predict(x).leaf();
  for (int64_t i = 0; i < got.count(); ++i) EXPECT_NEAR(got.at(i), expected.at(i), 1e-6);
}

TEST_F(ModelParallelTest, OutputsRefuseLayoutsThatDoNotFit) {
  const auto refused = [](const TensorLayout& layout, const std::string& message) {
    expect_user_error(
        [&] {
          distribute(bent(), with("up/output", layout)).predict(waves({8, 6}));
        },
        {"cpu:0, layer 'up': ", message});
  };
  refused({std::nullopt, "batch"}, "the axis 'batch' of the mesh splits the samples");
  refused({"model", "model"}, "has 'model' more than once");
  refused({"batch", std::nullopt, "model"},
          "a tensor of shape (4, 10) has 2 axes, its layout has 3");
  refused(TensorLayout({std::nullopt, "model"}, mesh(1, 2)), "is not of the distribution's mesh");
  expect_user_error(
      [] { bent(lambda_function([](Value v) { return distribute_tensor(v, {"batch"}); })); },
      "Cannot create sharding when device mesh is not set for TensorLayout.");
}

TEST_F(ModelParallelTest, RefusesSeveralProcesses) {
  const auto refused = [](const InitializeOptions& options, const std::string& received) {
    expect_user_error([&] { initialize(options); },
                      {"initialize: one process is all there is so far; several are not there yet",
                       "Received: " + received});
  };
  initialize();
  initialize({.job_addresses = "10.0.0.1:1234", .num_processes = 1, .process_id = 0});
  refused({.num_processes = 2}, "job_addresses='', num_processes=2, process_id=0");
  refused({.process_id = 1}, "job_addresses='', num_processes=1, process_id=1");
  refused({.job_addresses = "a:1,b:2"}, "job_addresses='a:1,b:2', num_processes=1, process_id=0");
}

TEST_F(ModelParallelTest, ReadsProcessesFromTheEnvironment) {
  const auto with = [](const char* name, const char* value, const std::string& message) {
    const std::string full = text("KERAS_DISTRIBUTION_", name);
    setenv(full.c_str(), value, 1);
    if (message.empty())
      initialize();
    else
      expect_user_error([] { initialize(); }, message);
    initialize({.job_addresses = "a:1", .num_processes = 1, .process_id = 0});  // comes first
    unsetenv(full.c_str());
  };
  with("NUM_PROCESSES", "1", "");
  with("NUM_PROCESSES", "2", "num_processes=2");
  with("NUM_PROCESSES", "two", "KERAS_DISTRIBUTION_NUM_PROCESSES should be a whole number");
  with("PROCESS_ID", "0", "");
  with("PROCESS_ID", "3", "process_id=3");
  with("JOB_ADDRESSES", "10.0.0.1:1234", "");
  with("JOB_ADDRESSES", "10.0.0.1:1234,10.0.0.2:2345", "10.0.0.2:2345");
}

}  // namespace
}  // namespace keratin::distribute

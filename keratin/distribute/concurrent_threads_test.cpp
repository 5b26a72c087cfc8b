// Replicas run concurrently on threads: trained, called from several threads, and stopped.
#include <gtest/gtest.h>

#include <thread>

#include "keratin/distribute/data_parallel.h"
#include "keratin/distribute/model_parallel.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using testing::waves;

class ReplicaThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 4);
    set_random_seed(4);
  }
  void TearDown() override {
    set_memory_limit(Device("gpu:1"), std::nullopt);
    set_logical_devices("gpu", 0);
  }
};

const EngineOptions threads{.threads = 8};  // also where there are fewer processors than devices

Model recurrent() {
  const auto x = Input({4, 3});
  const SymbolicTensor y = BatchNormalization({.synchronized = true})(GRU({.units = 4})(x));
  return Model({.inputs = x, .outputs = Dense({.units = 2})(y)});
}

// A model and its copy, which runs as `spread` says, learn the same.
void expect_trains_alike(const Model& model, const std::function<Model(const Model&)>& spread) {
  Model one = clone_model(model, {.copy_weights = true}), many = spread(model);
  const Tensor x = waves({10, 4, 3}, 0), y = waves({10, 2}, 1);
  for (Model* each : {&one, &many}) {
    each->compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse", .engine = threads});
    each->fit(x, y, {.batch_size = 5, .epochs = 3, .verbose = 0, .shuffle = false});
  }
  const auto got = model.get_weights(), expected = one.get_weights();
  for (size_t w = 0; w < got.size(); ++w)
    for (int64_t i = 0; i < got[w].count(); ++i)
      ASSERT_NEAR(got[w].at(i), expected[w].at(i), 1e-5) << "weight " << w;
}

Model on_three_gpus(const Model& model) {
  return multi_gpu_model(model, {.gpus = 3, .cpu_merge = false});
}

Model data_parallel(const Model& model, bool mirror) {
  return distribute::distribute(model, distribute::DataParallel({.mirror_variables = mirror}));
}

// A shard of the kernels on each device of a row, a slice of the batch on each row.
Model on_a_grid(const Model& model) {
  using namespace distribute;
  LayoutMap layouts(DeviceMesh({.shape = {2, 2}, .axis_names = {"batch", "model"}}));
  layouts.set(".*kernel", {std::nullopt, "model"});
  layouts.set(".*dense.*/output", {"batch", "model"});
  return distribute::distribute(model, ModelParallel({.layout_map = layouts}));
}

TEST_F(ReplicaThreads, TrainAsOneDeviceDoes) { expect_trains_alike(recurrent(), on_three_gpus); }

TEST_F(ReplicaThreads, TrainWithOneOwnerDevicePerVariable) {
  expect_trains_alike(recurrent(), [](const Model& model) { return data_parallel(model, false); });
}

TEST_F(ReplicaThreads, TrainWithMirroredVariables) {
  expect_trains_alike(recurrent(), [](const Model& model) { return data_parallel(model, true); });
}

TEST_F(ReplicaThreads, TrainWithShardedVariables) { expect_trains_alike(recurrent(), on_a_grid); }

// Programs share devices: each has a queue of its own for each device.
TEST_F(ReplicaThreads, TrainSeveralModelsAtOnce) {
  const Model models[] = {recurrent(), recurrent(), recurrent()};
  std::thread mirrored([&] {
    expect_trains_alike(models[0], [](const Model& model) { return data_parallel(model, true); });
  });
  std::thread grid([&] { expect_trains_alike(models[1], on_a_grid); });
  expect_trains_alike(models[2], on_three_gpus);
  mirrored.join();
  grid.join();
}

TEST_F(ReplicaThreads, PredictInSeveralThreadsAtOnce) {
  const Model many = multi_gpu_model(recurrent(), {.gpus = 3});
  const Tensor x = waves({7, 4, 3}, 0);
  const Tensor expected = many.predict(x).leaf();
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (size_t t = 0; t < equal.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) equal[t] += many.predict(x).leaf() == expected ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 5));
}

TEST_F(ReplicaThreads, WorkAfterOneDeviceRanOutOfMemory) {
  const Model model = recurrent();
  Model many = multi_gpu_model(model, {.gpus = 3});
  many.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = waves({9, 4, 3}, 0), y = waves({9, 2}, 1);
  set_memory_limit(Device("gpu:1"), memory_use(Device("gpu:1")).used + 64);
  EXPECT_THROW(many.fit(x, y, {.verbose = 0}), BackendError);
  set_memory_limit(Device("gpu:1"), std::nullopt);
  EXPECT_NO_THROW(many.fit(x, y, {.verbose = 0}));
}

// The other devices are stopped in the middle of their work.
TEST_F(ReplicaThreads, WorkAfterAStepThrewOnOneDevice) {
  const auto words = Input({.shape = {4}, .dtype = DType::i32});
  const SymbolicTensor vectors = Embedding({.input_dim = 9, .output_dim = 3}, "words")(words);
  const Model model({.inputs = words, .outputs = recurrent()(vectors)});
  const Tensor good = Tensor::full(DType::i32, {12, 4}, 2), y = waves({12, 2}, 1);
  const std::function<Model(const Model&)> distributions[] = {
      on_three_gpus, [](const Model& m) { return data_parallel(m, true); },
      [](const Model& m) { return data_parallel(m, false); }};
  for (const auto& spread : distributions) {
    Model many = spread(model);
    many.compile({.optimizer = "sgd", .loss = "mse", .engine = threads});
    many.fit(good, y, {.batch_size = 12, .verbose = 0});
    for (const int64_t row : {0, 5, 11}) {
      Tensor bad = good.clone();
      bad.set(row * 4 + 1, 100);
      const auto before = model.get_weights();
      testing::expect_user_error([&] { many.fit(bad, y, {.batch_size = 12, .verbose = 0}); },
                                 {"gpu:", "words", "100"});
      EXPECT_EQ(model.get_weights(), before);
      many.fit(good, y, {.batch_size = 12, .verbose = 0});
      EXPECT_NE(model.get_weights(), before);
    }
  }
}

}  // namespace
}  // namespace keratin

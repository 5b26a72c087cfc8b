// Replicas work side by side on threads: trained, called from several threads, and stopped.
#include <gtest/gtest.h>

#include <thread>

#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/waves.h"

namespace keratin {
namespace {

using testing::waves;

class ReplicaThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 3);
    set_random_seed(4);
  }
  void TearDown() override {
    set_memory_limit(Device("gpu:1"), std::nullopt);
    set_logical_devices("gpu", 0);
  }
};

Model recurrent() {
  const auto x = Input({4, 3});
  const SymbolicTensor y = BatchNormalization({.synchronized = true})(GRU({.units = 4})(x));
  return Model({.inputs = x, .outputs = Dense({.units = 2})(y)});
}

TEST_F(ReplicaThreads, TrainAsOneDeviceDoes) {
  const Model model = recurrent();
  Model one = clone_model(model, {.copy_weights = true});
  Model many = multi_gpu_model(model, {.gpus = 3, .cpu_merge = false});
  const Tensor x = waves({10, 4, 3}, 0), y = waves({10, 2}, 1);
  for (Model* each : {&one, &many}) {
    each->compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
    each->fit(x, y, {.batch_size = 5, .epochs = 3, .verbose = 0, .shuffle = false});
  }
  const auto got = model.get_weights(), expected = one.get_weights();
  for (size_t w = 0; w < got.size(); ++w)
    for (int64_t i = 0; i < got[w].count(); ++i)
      EXPECT_NEAR(got[w].at(i), expected[w].at(i), 1e-5) << "weight " << w;
}

TEST_F(ReplicaThreads, AnswerSeveralThreadsAtOnce) {
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

TEST_F(ReplicaThreads, GoOnAfterOneDeviceRanOutOfMemory) {
  const Model model = recurrent();
  Model many = multi_gpu_model(model, {.gpus = 3});
  many.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = waves({9, 4, 3}, 0), y = waves({9, 2}, 1);
  set_memory_limit(Device("gpu:1"), memory_use(Device("gpu:1")).used + 64);
  EXPECT_THROW(many.fit(x, y, {.verbose = 0}), BackendError);
  set_memory_limit(Device("gpu:1"), std::nullopt);
  EXPECT_NO_THROW(many.fit(x, y, {.verbose = 0}));
}

}  // namespace
}  // namespace keratin

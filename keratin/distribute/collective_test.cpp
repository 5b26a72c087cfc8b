#include "keratin/ops/collective.h"
#include "keratin/graph/input.h"

#include <gtest/gtest.h>

#include "keratin/distribute/data_parallel.h"
#include "keratin/distribute/model_parallel.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/layers/layers.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"

namespace keratin::distribute {
namespace {

using testing::waves;

// The in-process collective, with counters.
class Counting final : public ops::Collective {
 public:
  // Sends nothing: `reduce` does all of it.
  Value send(Value addend, Device) const override { return addend; }
  Value reduce(const Values& addends, Device to) const override {
    ++reduced;
    sums.emplace_back(addends.size(), to);
    return ops::in_process_collective().reduce(addends, to);
  }
  Values all_reduce(const Values& addends) const override {
    ++all_reduced;
    return ops::in_process_collective().all_reduce(addends);
  }
  std::vector<Values> all_reduce(const std::vector<Values>& bucket) const override {
    buckets.push_back(bucket.size());
    return ops::in_process_collective().all_reduce(bucket);
  }
  int64_t bucket_bytes() const override { return 32; }
  Value gather(const Values& shards, int64_t axis, Device to) const override {
    ++gathered;
    return ops::in_process_collective().gather(shards, axis, to);
  }
  mutable int reduced = 0, all_reduced = 0, gathered = 0;
  mutable std::vector<size_t> buckets;
  mutable std::vector<std::pair<size_t, Device>> sums;  // addends and device of each `reduce`
};

class CollectiveTest : public ::testing::Test {
 protected:
  CollectiveTest() {
    set_logical_devices("cpu", 2);
    ops::set_collective(counts);
  }
  ~CollectiveTest() override {
    ops::set_collective(ops::in_process_collective());
    set_logical_devices("cpu", 1);
    set_logical_devices("gpu", 0);
  }
  Counting counts;
};

// Losses, statistics and outputs of replicas use it.
TEST_F(CollectiveTest, JoinsReplicas) {
  const auto x = Input({4});
  const Symbols y = Dense({.units = 3}, LayerOptions{.activity_regularizer = "l2"})(x);
  const Model model({.inputs = x, .outputs = BatchNormalization({.synchronized = true})(y)});
  Model many = distribute(model, DataParallel());
  EXPECT_EQ(counts.gathered, 0);
  many.compile({.optimizer = "sgd", .loss = "mse"});
  many.train_on_batch(waves({8, 4}), waves({8, 3}, 1));
  EXPECT_GE(counts.reduced, 1);
  EXPECT_GE(counts.all_reduced, 2);
  EXPECT_EQ(counts.gathered, 0);  // losses are made where the outputs are
  set_logical_devices("gpu", 2);
  multi_gpu_model(model, {.gpus = 2}).predict(waves({8, 4}));
  EXPECT_EQ(counts.gathered, 1);
}

// So do gradients: one sum for each variable, on its owner device.
TEST_F(CollectiveTest, SumsGradients) {
  const auto x = Input({4});
  const Model model({.inputs = x, .outputs = Dense({.units = 2})(Dense({.units = 3})(x))});
  Model many = distribute(model, DataParallel());
  many.compile({.optimizer = "sgd", .loss = "mse"});
  many.test_on_batch(waves({8, 4}), waves({8, 2}, 1));
  EXPECT_EQ(counts.reduced, 1);  // the loss
  counts.sums.clear();
  many.train_on_batch(waves({8, 4}), waves({8, 2}, 1));
  EXPECT_EQ(counts.sums.size(), 5U);
  for (const auto& [addends, to] : counts.sums) {
    EXPECT_EQ(addends, 2U);
    EXPECT_TRUE(to == Device("cpu:0") || to == Device("cpu:1"));
  }
}

// Gradients of mirrored variables are summed in buckets, the last layer's first.
TEST_F(CollectiveTest, SumsGradientsOfMirroredVariablesInBuckets) {
  const auto x = Input({4});
  const Model model({.inputs = x, .outputs = Dense({.units = 2})(Dense({.units = 3})(x))});
  Model many = distribute(model, DataParallel({.mirror_variables = true}));
  many.compile({.optimizer = "sgd", .loss = "mse"});
  many.train_on_batch(waves({8, 4}), waves({8, 2}, 1));
  EXPECT_EQ(counts.sums.size(), 1U);                       // the loss
  EXPECT_EQ(counts.buckets, (std::vector<size_t>{2, 2}));  // of 32 and 60 bytes
}

// Devices share the sums of a bucket, the largest first.
TEST_F(CollectiveTest, DevicesShareTheSumsOfABucket) {
  Module module;
  std::vector<Values> bucket;
  for (const int64_t size : {3, 4, 6}) {
    Values& addends = bucket.emplace_back();
    for (const char* device : {"cpu:0", "cpu:1"})
      addends.push_back(module.input({DType::f32, {size}, Device(device)}));
  }
  std::vector<std::string> homes;
  for (const Values& sums : ops::in_process_collective().all_reduce(bucket)) {
    for (size_t j = 0; j < 2; ++j) EXPECT_EQ(sums[j].type().device, bucket[0][j].type().device);
    homes.push_back(sums[0].node().name() == "add" ? "cpu:0" : "cpu:1");
  }
  EXPECT_EQ(homes, (std::vector<std::string>{"cpu:1", "cpu:1", "cpu:0"}));  // 3 + 4, and 6
}

// Matmuls over sharded rows use it, and so do values that are gathered.
TEST_F(CollectiveTest, GathersShards) {
  const auto x = Input({4});
  const Model model({.inputs = x, .outputs = Softmax()(Dense({.units = 6}, "d")(x))});
  const auto run = [&](const TensorLayout& layout) {
    LayoutMap map(DeviceMesh({.shape = {1, 2}, .axis_names = {"batch", "model"}}));
    map.set("d/kernel", layout);
    const Model many = distribute(model, ModelParallel({.layout_map = map}));
    counts.reduced = counts.gathered = 0;
    many.predict(waves({8, 4}));
  };
  run({"model", std::nullopt});
  EXPECT_EQ(counts.reduced, 1);
  const int once = counts.gathered;  // the outputs of one replica
  run({std::nullopt, "model"});
  EXPECT_EQ(counts.reduced, 0);
  EXPECT_EQ(counts.gathered, once + 1);
}

}  // namespace
}  // namespace keratin::distribute

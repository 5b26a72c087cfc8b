// Which sums and transfers the programs of several devices have.
#include "keratin/ops/collective.h"

#include <gtest/gtest.h>

#include <sstream>

#include "keratin/distribute/data_parallel.h"
#include "keratin/distribute/model_parallel.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/testing/waves.h"
#include "keratin/train/options.h"

namespace keratin::distribute {
namespace {

using testing::waves;

// A program as it is printed after the first pass, which leaves nodes alone that nobody uses, or
// after the last one.
std::string after_first_pass(const std::ostringstream& dump) {
  return dump.str().substr(0, dump.str().find("\nafter "));
}
std::string after_last_pass(const std::ostringstream& dump) {
  return dump.str().substr(dump.str().rfind("\nafter "));
}

// How often a program has an op whose first result has this type.
int count(const std::string& program, const std::string& op, const std::string& type) {
  std::istringstream lines(program);
  int found = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find(" = " + op + "(") != std::string::npos &&
        line.find(" : " + type) != std::string::npos)
      ++found;
  return found;
}

class CollectiveTest : public ::testing::Test {
 protected:
  CollectiveTest() {
    set_logical_devices("cpu", 2);
    set_logical_devices("gpu", 2);
  }
  ~CollectiveTest() override {
    set_logical_devices("cpu", 1);
    set_logical_devices("gpu", 0);
  }
};

// Outputs of replicas are gathered where they are merged. Losses are made where the outputs are.
TEST_F(CollectiveTest, GathersOutputsOnlyWhereTheyAreMerged) {
  const auto x = Input({4});
  const Model model({.inputs = x, .outputs = Dense({.units = 3})(x)});
  std::ostringstream predicted, trained;
  multi_gpu_model(model, {.gpus = 2}).predict(waves({8, 4}), {.engine = {.dump = &predicted}});
  EXPECT_EQ(count(after_last_pass(predicted), "concat", "f32[8,3]"), 1);
  Model many = distribute(model, DataParallel());
  many.compile({.optimizer = "sgd", .loss = "mse", .engine = {.dump = &trained}});
  many.train_on_batch(waves({8, 4}), waves({8, 3}, 1));
  EXPECT_GT(count(after_last_pass(trained), "transfer", "f32[]"), 0);
  EXPECT_EQ(count(after_last_pass(trained), "concat", "f32[8,3]"), 0);
}

// Gradients of mirrored variables are summed in buckets of at least bucket_bytes.
TEST_F(CollectiveTest, SumsGradientsOfMirroredVariablesInBuckets) {
  const auto buckets = [](int64_t units) {
    const auto x = Input({units});
    const Symbols y = Dense({.units = units})(Dense({.units = units})(x));
    const Model model({.inputs = x, .outputs = y});
    Model many =
        distribute(model, DataParallel({.devices = {"gpu:0", "gpu:1"}, .mirror_variables = true}));
    std::ostringstream dump;
    many.compile({.optimizer = "sgd", .loss = "mse", .engine = {.dump = &dump}});
    many.train_on_batch(waves({4, units}), waves({4, units}, 1));
    return count(after_first_pass(dump), "all_reduce", "f32");
  };
  EXPECT_EQ(buckets(8), 1);
  EXPECT_EQ(buckets(512), 3);  // kernels of 1 MiB fill two
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
  std::vector<std::string> devices;
  for (const Values& sums : ops::collective::all_reduce_bucket(bucket)) {
    for (size_t j = 0; j < 2; ++j) EXPECT_EQ(sums[j].type().device, bucket[0][j].type().device);
    devices.push_back(sums[0].node().name() == "add" ? "cpu:0" : "cpu:1");
  }
  EXPECT_EQ(devices, (std::vector<std::string>{"cpu:1", "cpu:1", "cpu:0"}));  // 3 + 4, and 6
}

// A kernel sharded by rows gives addends, which are summed; one sharded by columns gives columns,
// which are gathered.
TEST_F(CollectiveTest, GathersShards) {
  const auto x = Input({4});
  const Model model({.inputs = x, .outputs = Softmax()(Dense({.units = 6}, "d")(x))});
  const auto concats = [&](const TensorLayout& layout) {
    LayoutMap map(DeviceMesh({.shape = {1, 2}, .axis_names = {"batch", "model"}}));
    map.set("d/kernel", layout);
    std::ostringstream dump;
    distribute(model, ModelParallel({.layout_map = map}))
        .predict(waves({8, 4}), {.engine = {.dump = &dump}});
    return count(after_last_pass(dump), "concat", "f32[8,6]");
  };
  EXPECT_EQ(concats({"model", std::nullopt}), 0);
  EXPECT_EQ(concats({std::nullopt, "model"}), 1);
}

}  // namespace
}  // namespace keratin::distribute

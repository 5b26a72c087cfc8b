// A file of a replicated model is a file of the given model.
#include <gtest/gtest.h>

#include <filesystem>

#include "keratin/callbacks/callbacks.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/waves.h"
#include "tests/replicas/difference_testing.h"

namespace keratin {
namespace {

using testing::waves;

class ReplicaFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 3);
    set_random_seed(2);
  }
  void TearDown() override { set_logical_devices("gpu", 0); }
};

// A folder for one test.
class Scratch {
 public:
  Scratch() { std::filesystem::create_directories(folder_); }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / "keratin_replica_files";
};

Model normed() {
  const auto x = Input({3});
  return Model(
      {.inputs = x, .outputs = Dense({.units = 2})(BatchNormalization()(Dense({.units = 5})(x)))});
}

TEST_F(ReplicaFiles, CheckpointsOpenAsTheGivenModel) {
  const Scratch scratch;
  for (const bool relocate : {false, true}) {
    const Model model = [] {
      const auto scope = device_scope("gpu:0");
      return normed();
    }();
    Model parallel = multi_gpu_model(model, {.gpus = 3, .cpu_relocation = relocate});
    parallel.compile({.optimizer = "adam", .loss = "mse"});
    const Tensor x = waves({20, 3}, 0), y = waves({20, 2}, 1);
    parallel.fit(x, y,
                 {.batch_size = 7,
                  .epochs = 2,
                  .verbose = 0,
                  .callbacks = {ModelCheckpoint(
                                    {.filepath = scratch.path("{epoch}.keras"), .monitor = "loss"}),
                                ModelCheckpoint({.filepath = scratch.path("{epoch}.weights.h5"),
                                                 .monitor = "loss"})}});
    parallel.save(scratch.path("whole.keras"));
    parallel.save_weights(scratch.path("w.weights.h5"));
    const std::vector<Tensor> expected = model.predict(x).flat();
    const double most = testing::tolerance(0, 1e-5);  // files are opened on the CPU
    for (const char* name : {"2.keras", "whole.keras"}) {
      Model loaded = load_model(scratch.path(name));
      EXPECT_EQ(loaded.to_json(), model.to_json()) << name;
      EXPECT_LE(testing::difference(loaded.predict(x).flat(), expected), most) << name;
      EXPECT_EQ(loaded.optimizer().iterations(), 6) << name;
      // The loaded model trains on one device.
      EXPECT_NO_THROW(loaded.train_on_batch(x, y));
    }
    for (const char* name : {"2.weights.h5", "w.weights.h5"}) {
      Model other = normed();
      other.load_weights(scratch.path(name));
      EXPECT_LE(testing::difference(other.predict(x).flat(), expected), most) << name;
    }
  }
}

}  // namespace
}  // namespace keratin

// The model of Keras's issue 12202: a Lambda with two outputs, which are added, relocated to the
// CPU, replicated, trained and saved.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/saving.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"
#include "tests/replicas/difference_testing.h"
#include "tests/replicas/replica_config_testing.h"

namespace keratin {
namespace {

using testing::difference;
using testing::replicate;
using testing::tolerance;
using testing::waves;

class OriginalReport : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 2);
    set_random_seed(1);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    set_logical_devices("gpu", 0);
  }

  // A file of the replicas holds the given model: the same config, and outputs with the same bits.
  void expect_saved(const Model& model, const Model& parallel) const {
    const std::vector<Tensor> expected = model.predict(x).flat();
    for (const char* name : {"report.keras", "report.h5"}) {
      parallel.save(folder / name);
      const Model loaded = load_model(folder / name);
      EXPECT_EQ(loaded.to_json(), model.to_json()) << name;
      EXPECT_EQ(loaded.get_weights(), model.get_weights()) << name;
      EXPECT_LE(difference(loaded.predict(x).flat(), expected), tolerance(0, 1e-5)) << name;
    }
  }

  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "keratin_original_report";
  const Tensor x = waves({20, 1}, 0, 0.2), y = waves({20, 1}, 0.5, 0.2);
};

// x → [x, x] → x + x, made on the first GPU.
Model reported(bool learns) {
  const auto scope = device_scope("gpu:0");
  const auto x = Input({1});
  const auto twice = Lambda([](Value v) { return Values{v, v}; })(x).flat();
  const SymbolicTensor sum = Add()({twice.at(0), twice.at(1)});
  return Model({.inputs = x, .outputs = learns ? SymbolicTensor(Dense({.units = 1})(sum)) : sum});
}

TEST_F(OriginalReport, PredictsAsOneDeviceDoes) {
  const Model model = reported(false);
  Model parallel = multi_gpu_model(model, {.gpus = 2, .cpu_relocation = true});
  parallel.compile({.optimizer = "sgd", .loss = "mse"});
  const History history = parallel.fit(x, y, {.epochs = 2, .verbose = 0});
  double loss = 0;
  for (int64_t i = 0; i < 20; ++i) loss += std::pow(2 * x.at(i) - y.at(i), 2) / 20;
  EXPECT_NEAR(history["loss"].back(), loss, 1e-6);
  expect_saved(model, parallel);
}

TEST_F(OriginalReport, LearnsAsOneDeviceDoes) {
  const Model model = reported(true);
  Model one = reported(true);
  const auto before = model.get_weights();
  one.set_weights(before);
  Model parallel = replicate(model, {.devices = 2, .cpu_relocation = true});
  for (Model* each : {&one, &parallel}) {
    each->compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
    each->fit(x, y, {.batch_size = 7, .epochs = 5, .verbose = 0, .shuffle = false});
  }
  EXPECT_GT(difference(model.get_weights(), before), 1e-2);
  EXPECT_LE(difference(model.get_weights(), one.get_weights()), tolerance(1e-5, 1e-4));
  for (const Variable& v : model.weights()) EXPECT_EQ(v.device(), Device{}) << v.path();
  expect_saved(model, parallel);
}

}  // namespace
}  // namespace keratin

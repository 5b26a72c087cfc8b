// Replicas share the kernel that SpectralNormalization divides: it is divided once per step.
#include <gtest/gtest.h>

#include "keratin/keratin.h"
#include "keratin/testing/waves.h"
#include "tests/replicas/difference_testing.h"

namespace keratin {
namespace {

using distribute::DataParallel;
using testing::tolerance;
using testing::waves;

Model with_spectral_normalization() {
  const auto x = Input({4});
  const SpectralNormalization hidden({.layer = Dense({.units = 6, .activation = "tanh"})});
  return Model({.inputs = x, .outputs = Dense({.units = 1})(hidden(x))});
}

std::vector<double> trained(Model model, const Model& made) {
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  std::vector<double> found =
      model.fit(waves({8, 4}, 0, 0.9), waves({8, 1}, 1, 0.7), {.epochs = 5, .verbose = 0})
          .history.at("loss");
  for (const Tensor& weight : made.get_weights())
    for (const double value : weight.to_vector()) found.push_back(value);
  return found;
}

TEST(SpectralNormalization, TrainsReplicasAsOneDevice) {
  set_logical_devices("gpu", 2);
  const Model first = with_spectral_normalization();
  const auto copy = [&] {
    const Model made = with_spectral_normalization();
    made.layer()->set_weights(first.get_weights());
    return made;
  };
  const Model one = copy(), split = copy(), mirrored = copy();
  const std::vector<double> expected = trained(one, one);
  const DataParallel both({.devices = {"gpu:0", "gpu:1"}, .mirror_variables = true});
  for (const std::vector<double>& found :
       {trained(multi_gpu_model(split, {.gpus = 2}), split),
        trained(distribute::distribute(mirrored, both), mirrored)}) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], tolerance(1e-5, 1e-3)) << i;
  }
  set_logical_devices("gpu", 0);
}

}  // namespace
}  // namespace keratin

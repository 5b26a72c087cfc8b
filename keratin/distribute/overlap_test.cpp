// Gradients of mirrored variables are summed while the backward pass goes on.
#include <gtest/gtest.h>

#include <algorithm>

#include "keratin/distribute/data_parallel.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/program.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"
#include "keratin/train/trainer.h"

namespace keratin::distribute {
namespace {

using testing::waves;

// A kernel of 1 MiB is a bucket: its gradient is summed, and its weights are updated, before the
// last matmul of the backward pass.
TEST(Overlap, BucketsAreSummedDuringTheBackwardPass) {
  set_logical_devices("cpu", 2);
  const auto x = Input({512});
  Symbols y = x;
  for (int i = 0; i < 4; ++i) y = Dense({.units = 512, .activation = "relu"})(y);
  const Model model({.inputs = x, .outputs = y});
  Model many = distribute(model, DataParallel({.mirror_variables = true}));
  many.compile({.optimizer = "sgd", .loss = "mse", .engine = {.threads = 2}});
  std::vector<std::string> steps;
  for (const auto& step :
       many.trainer().profile({.x = waves({64, 512}), .y = waves({64, 512}, 1)}, 1))
    steps.push_back(step.step);
  set_logical_devices("cpu", 1);

  const auto is = [](const std::string& end) {
    return [end](const std::string& step) { return step.ends_with(end); };
  };
  const auto is_matmul = [](const std::string& step) { return step.starts_with("matmul"); };
  EXPECT_EQ(std::count_if(steps.begin(), steps.end(), is_matmul), 2 * (4 + 4 + 3));
  const auto last_matmul = std::find_if(steps.rbegin(), steps.rend(), is_matmul).base();
  std::string all;
  for (const std::string& step : steps) all += step + '\n';
  // The buckets of the three layers above, and at least the last layer's weights on both devices.
  EXPECT_GE(std::count_if(steps.begin(), last_matmul, is(" loop add")), 3) << all;
  EXPECT_GE(std::count_if(steps.begin(), last_matmul, is(" loop mul sub")), 4) << all;
}

}  // namespace
}  // namespace keratin::distribute

#include <gtest/gtest.h>

#include "keratin/keratin.h"

namespace keratin {
namespace {

// y = 2a - b + 1, without noise.
Batch line(int64_t rows) {
  Tensor x(DType::f32, {rows, 2}), y(DType::f32, {rows, 1});
  for (int64_t i = 0; i < rows; ++i) {
    const double a = static_cast<double>(i * 7 % 11) / 11, b = static_cast<double>(i * 5 % 13) / 13;
    x.set(2 * i, a);
    x.set(2 * i + 1, b);
    y.set(i, 2 * a - b + 1);
  }
  return {x, y};
}

Model one_dense() {
  const SymbolicTensor in = Input({2});
  return Model({.inputs = in, .outputs = Dense({.units = 1})(in)});
}

TEST(Fit, LearnsALine) {
  set_random_seed(1);
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.5}), .loss = "mse", .metrics = {"mse"}});
  const Batch data = line(100);
  const History history = model.fit(data.x, data.y, {.epochs = 60, .verbose = 0});
  EXPECT_EQ(history["loss"].size(), 60u);
  EXPECT_LT(history["loss"].back(), 1e-6);
  EXPECT_NEAR(history["mse"].back(), history["loss"].back(), 1e-9);
  const std::vector<Tensor> weights = model.get_weights();
  EXPECT_NEAR(weights[0].at(0), 2, 1e-2);
  EXPECT_NEAR(weights[0].at(1), -1, 1e-2);
  EXPECT_NEAR(weights[1].at(0), 1, 1e-2);
  EXPECT_LT(model.evaluate(data.x, data.y, {.verbose = 0}).at("loss"), 1e-6);
}

}  // namespace
}  // namespace keratin

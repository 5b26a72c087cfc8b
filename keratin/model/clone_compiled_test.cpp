// The clone of a compiled model is compiled with the same options, as in Keras 3.
#include <gtest/gtest.h>

#include "keratin/graph/input.h"
#include "keratin/io/compile_config.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

Model two_headed() {
  const auto in = Input({.shape = {3}, .name = "in"});
  return Model(
      {.inputs = in, .outputs = {Dense({.units = 2}, "a")(in), Dense({.units = 1}, "b")(in)}});
}

Tensor random_floats(const Shape& shape, uint64_t seed) {
  return testing::random_tensor({DType::f32, shape}, -1, 1, seed);
}

TEST(CloneCompiled, TrainsLikeItsSource) {
  Model model = two_headed();
  const auto spread = [](Value y_true, Value y_pred) {
    return ops::mean(ops::abs(y_true - y_pred), {-1});
  };
  model.compile({.optimizer = Adam({.learning_rate = 0.01}, {.clipnorm = 1.0}),
                 .loss = {Loss(spread, {.name = "spread"}), "mse"},
                 .loss_weights = {0.5, 2.0},
                 .metrics = Metrics::each({{"mae"}, {"mse"}})});
  const Tree<Tensor> x = random_floats({8, 3}, 1),
                     y = {random_floats({8, 2}, 2), random_floats({8, 1}, 3)};
  model.fit(x, y, {.epochs = 1, .verbose = 0});
  Model clone = clone_model(model, {.copy_weights = true});
  ASSERT_TRUE(clone.compiled());
  EXPECT_NE(&clone.optimizer(), &model.optimizer());
  EXPECT_EQ(clone.optimizer().iterations(), 0);
  EXPECT_EQ(model.optimizer().iterations(), 1);
  EXPECT_EQ(clone.optimizer().get_config(), model.optimizer().get_config());
  EXPECT_EQ(io::compile_config(clone.trainer().options()),
            io::compile_config(model.trainer().options()));
  // Equal weights give equal losses; each model has its own metrics and weights.
  EXPECT_EQ(clone.evaluate(x, y, {.verbose = 0}), model.evaluate(x, y, {.verbose = 0}));
  const auto before = model.get_weights();
  clone.fit(x, y, {.epochs = 2, .verbose = 0});
  EXPECT_EQ(model.optimizer().iterations(), 1);
  for (size_t i = 0; i < before.size(); ++i)
    for (int64_t j = 0; j < before[i].count(); ++j)
      ASSERT_EQ(model.get_weights()[i].at(j), before[i].at(j));
}

TEST(CloneCompiled, TakesTheCurrentLearningRate) {
  Model model = two_headed();
  model.compile({.optimizer = SGD({.learning_rate = 0.5}), .loss = "mse"});
  model.optimizer().set_learning_rate(0.125);
  EXPECT_EQ(clone_model(model).optimizer().learning_rate(), 0.125);
  const Optimizer inner = Adam({.learning_rate = 0.25});
  model.compile({.optimizer = LossScaleOptimizer({.inner_optimizer = inner}), .loss = "mse"});
  const Model clone = clone_model(model);
  EXPECT_EQ(clone.optimizer().learning_rate(), 0.25);
  EXPECT_NE(clone.optimizer().inner_optimizers()[0].optimizer, inner.ptr());
}

TEST(CloneCompiled, StaysUncompiledIfTheSourceIs) {
  EXPECT_FALSE(clone_model(two_headed()).compiled());
}

}  // namespace
}  // namespace keratin

#include <cmath>

#include "keratin/keratin.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

// The largest singular value of a matrix of two columns.
double spectral_norm(const Tensor& matrix) {
  double a = 0, b = 0, c = 0;
  for (int64_t row = 0; row < matrix.shape()[0]; ++row) {
    const double x = matrix.at(2 * row), y = matrix.at(2 * row + 1);
    a += x * x, b += x * y, c += y * y;
  }
  return std::sqrt((a + c) / 2 + std::hypot((a - c) / 2, b));
}

// In training the gradient is with respect to the divided kernel, so finite differences differ.
TEST(SpectralNormalization, BehavesAsInKeras) {
  testing::check_layer(
      "SpectralNormalization",
      {.no_gradient = {"Conv2D", "DepthwiseConv2D", "EinsumDense", "Embedding gives whole numbers",
                       "Embedding of floats", "float64", "frozen", "frozen layer", "mask",
                       "regularizer", "three iterations", "training", "zeros"}});
}

TEST(SpectralNormalization, BringsTheLargestSingularValueToOne) {
  set_random_seed(1);
  const SpectralNormalization layer({.layer = Dense({.units = 2}), .power_iterations = 20});
  layer(Input({5}));
  run_layer(*layer, {{MaskedTensor{Tensor::full(DType::f32, {2, 5}, 1)}}, {}}, {.training = true});
  EXPECT_NEAR(spectral_norm(layer->layer()->weights()[0].value()), 1, 1e-4);
}

TEST(SpectralNormalization, SharesTheKernelWithItsLayer) {
  const SpectralNormalization layer({.layer = Dense({.units = 2})});
  layer(Input({5}));
  ASSERT_EQ(layer->weights().size(), 3U);
  EXPECT_EQ(layer->weights()[0], layer->layer()->weights()[0]);
  EXPECT_EQ(layer->weights()[1].name(), "vector_u");
  EXPECT_EQ(layer->trainable_weights().size(), 2U);
}

TEST(SpectralNormalization, Trains) {
  set_random_seed(2);
  const auto x = Input({4});
  const SpectralNormalization hidden({.layer = Dense({.units = 6, .activation = "tanh"})});
  Model model({.inputs = x, .outputs = Dense({.units = 1})(hidden(x))});
  model.compile({.optimizer = Adam({.learning_rate = 0.02}), .loss = "mse"});
  const Tensor inputs = Tensor::of<float>(DType::f32, {4, 4},
                                          {1, 0, 2, 1, 0, 1, 1, 2,  //
                                           2, 2, 0, 1, 1, 1, 0, 0});
  const Tensor targets = Tensor::of<float>(DType::f32, {4, 1}, {1, -1, 0.5, 0});
  const auto losses = model.fit(inputs, targets, {.epochs = 60, .verbose = 0}).history.at("loss");
  EXPECT_LT(losses.back(), 0.2 * losses.front());
}

TEST(SpectralNormalization, RefusesBadArgumentsAndLayers) {
  expect_user_error(
      [] { SpectralNormalization({.layer = Dense({.units = 2}), .power_iterations = 0}); },
      {"`power_iterations` should be greater than zero", "`power_iterations=0`"});
  expect_user_error([] { SpectralNormalization({.layer = Flatten()})(Input({4})); },
                    "Flatten object has no attribute 'kernel' nor 'embeddings'");
  expect_user_error([] { SpectralNormalization(); }, "valid Keras layer");
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/simple_rnn.h"

#include <cmath>

#include "keratin/graph/input.h"
#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;
using testing::outputs_of;

TEST(SimpleRNN, BehavesAsInKeras) { check_layer("SimpleRNN", {.states = testing::states_of}); }

// y_t = mask · x_t: the mask is seen in the outputs.
TEST(SimpleRNN, DropsTheSameInputsInAllSteps) {
  const SimpleRNN layer({.units = 1,
                         .activation = "linear",
                         .use_bias = false,
                         .kernel_initializer = "ones",
                         .recurrent_initializer = "zeros",
                         .dropout = 0.25,
                         .return_sequences = true,
                         .seed = 5});
  const int64_t samples = 4000;
  const auto ones = testing::on(Tensor::full(DType::f32, {samples, 3, 1}, 1));
  const Tensor y = outputs_of(*layer, ones, {.training = true})[0];
  int64_t kept = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const double first = y.at(3 * i);
    EXPECT_TRUE(first == 0 || std::abs(first - 1 / 0.75) < 1e-6) << first;
    EXPECT_EQ(first, y.at(3 * i + 1));
    EXPECT_EQ(first, y.at(3 * i + 2));
    kept += first != 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(kept) / samples, 0.75, 0.03);
  const Tensor plain = outputs_of(*layer, ones)[0];
  EXPECT_EQ(plain, Tensor::full(DType::f32, {samples, 3, 1}, 1));
}

// h ← 1 + mask · h: a dropped state stays 1, another one grows by the same factor.
TEST(SimpleRNN, DropsTheSameStatesInAllSteps) {
  const SimpleRNN layer({.units = 1,
                         .activation = "linear",
                         .use_bias = false,
                         .kernel_initializer = "ones",
                         .recurrent_initializer = "ones",
                         .recurrent_dropout = 0.5,
                         .return_sequences = true});
  const auto ones = testing::on(Tensor::full(DType::f32, {100, 3, 1}, 1));
  const Tensor y = outputs_of(*layer, ones, {.training = true})[0];
  for (int64_t i = 0; i < 100; ++i) {
    const bool kept = y.at(3 * i + 1) != 1;
    EXPECT_EQ(y.at(3 * i), 1);
    EXPECT_EQ(y.at(3 * i + 1), kept ? 3 : 1);
    EXPECT_EQ(y.at(3 * i + 2), kept ? 7 : 1);
  }
}

TEST(SimpleRNN, KeepsItsSeedInACopy) {
  const SimpleRNN layer({.units = 2, .dropout = 0.5, .seed = 4});
  const auto copy = std::dynamic_pointer_cast<SimpleRNNLayer>(layer->fresh_copy());
  EXPECT_EQ(copy->config().seed, 4);
}

TEST(SimpleRNN, RefusesBadUnits) {
  expect_user_error([] { SimpleRNN({.units = -1}); }, {"`units`", "-1"});
  expect_user_error([] { SimpleRNN({.units = 2})(Input({4, unknown})); }, "last dimension");
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/conv_lstm.h"

#include "keratin/graph/input.h"
#include "keratin/graph/named.h"
#include "keratin/layers/registry.h"
#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_close;
using testing::expect_user_error;
using testing::fill;
using testing::from_states;
using testing::in_f64;
using testing::noise;
using testing::on;
using testing::outputs_of;

TEST(ConvLSTM1D, BehavesAsInKeras) { check_layer("ConvLSTM1D", {.states = testing::states_of}); }
TEST(ConvLSTM2D, BehavesAsInKeras) { check_layer("ConvLSTM2D", {.states = testing::states_of}); }
TEST(ConvLSTM3D, BehavesAsInKeras) { check_layer("ConvLSTM3D", {.states = testing::states_of}); }

// 0, 1, 2, … divided by a number.
Tensor count_up(const Shape& shape, double by) {
  Tensor out(DType::f32, shape);
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, static_cast<double>(i) / by);
  return out;
}

double sum_of(const Tensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.count(); ++i) sum += x.at(i);
  return sum;
}

Initializer constant(double value) { return Named{"Constant", Json::Object{{"value", value}}}; }

// The numbers of Keras's own test of the cell.
TEST(ConvLSTMCell, ComputesAStep) {
  const ConvLSTMCell<2> cell({.filters = 4,
                              .kernel_size = 3,
                              .padding = "same",
                              .kernel_initializer = constant(0.01),
                              .recurrent_initializer = constant(0.02)});
  const Tensor state = count_up({2, 5, 5, 4}, 10);
  const auto out = outputs_of(*cell, from_states(on(count_up({2, 5, 5, 3}, 10)), {state, state}));
  ASSERT_EQ(out.size(), 3u);
  EXPECT_NEAR(sum_of(out[0]), 188.89502, 1e-3);
  EXPECT_NEAR(sum_of(out[1]), 188.89502, 1e-3);
  EXPECT_NEAR(sum_of(out[2]), 2170.444, 1e-2);
}

TEST(ConvLSTM2D, NamesItsCellAndWeightsAsKeras) {
  const ConvLSTM2D layer({.filters = 4, .kernel_size = {3, 2}}, "film");
  layer->ensure_built({{unknown, unknown, 6, 5, 2}});
  const auto weights = layer->weights();
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_EQ(weights[0].path(), "film/conv_lstm_cell/kernel");
  EXPECT_EQ(weights[0].shape(), Shape({3, 2, 2, 16}));
  EXPECT_EQ(weights[1].path(), "film/conv_lstm_cell/recurrent_kernel");
  EXPECT_EQ(weights[1].shape(), Shape({3, 2, 4, 16}));
  EXPECT_EQ(weights[2].path(), "film/conv_lstm_cell/bias");
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ(weights[2].value().at(i), i >= 4 && i < 8 ? 1 : 0) << "only the forget gate";
  EXPECT_EQ(layer->sublayers()[0].attribute, "cell");
}

TEST(ConvLSTM2D, InfersShapesOfUnknownBatchesAndLengths) {
  const auto x = Input({unknown, 6, 5, 2});
  const ConvLSTM2D layer({.filters = 4,
                          .kernel_size = 3,
                          .strides = 2,
                          .return_sequences = true,
                          .return_state = true});
  const Symbols y = layer(x, {{"training", true}});
  EXPECT_EQ(y.outline(), "[*, *, *]");
  EXPECT_EQ(y[0].leaf().shape(), Shape({unknown, unknown, 2, 2, 4}));
  EXPECT_EQ(y[1].leaf().shape(), Shape({unknown, 2, 2, 4}));
}

// Each gate sees the inputs and the states through masks of its own, the same in all steps.
TEST(ConvLSTM1D, DropsInputsAndStatesWhileTraining) {
  const ConvLSTM1D layer({.filters = 3,
                          .kernel_size = 1,
                          .activation = "linear",
                          .recurrent_activation = "linear",
                          .dropout = 0.5,
                          .recurrent_dropout = 0.5,
                          .seed = 4,
                          .return_sequences = true},
                         in_f64);
  fill(*layer, {2, 4, 5, 2});
  const Tensor x = noise({2, 4, 5, 2}, 1, DType::f64);
  const auto plain = outputs_of(*layer, on(x));
  EXPECT_EQ(outputs_of(*layer, on(x))[0], plain[0]);
  const auto first = outputs_of(*layer, on(x), {.training = true});
  EXPECT_FALSE(first[0] == plain[0]);
  EXPECT_FALSE(outputs_of(*layer, on(x), {.training = true})[0] == first[0]);
  const auto gradients = testing::values_and_gradients(*layer, on(x), /*training=*/true);
  EXPECT_EQ(gradients.size(), 5u);
}

// As in Keras, a rate of 1 drops nothing.
TEST(ConvLSTM1D, IgnoresARateOfOne) {
  const ConvLSTM1D layer({.filters = 3, .kernel_size = 2, .dropout = 1, .recurrent_dropout = 7});
  fill(*layer, {2, 4, 5, 2});
  const Tensor x = noise({2, 4, 5, 2});
  EXPECT_EQ(outputs_of(*layer, on(x), {.training = true})[0], outputs_of(*layer, on(x))[0]);
  EXPECT_EQ(layer->get_config().at("recurrent_dropout"), Json(1.0));
}

TEST(ConvLSTM2D, ContinuesFromTheLastBatchWhenStateful) {
  const ConvLSTM2D kept({.filters = 2, .kernel_size = 2, .padding = "same", .stateful = true});
  const ConvLSTM2D whole({.filters = 2, .kernel_size = 2, .padding = "same"});
  fill(*kept, {1, 2, 3, 3, 1});
  fill(*whole, {1, 4, 3, 3, 1});
  const Tensor x = noise({1, 4, 3, 3, 1});
  const Tensor wanted = outputs_of(*whole, on(x))[0];
  const Tensor halves = x.reshape({2, 2, 3, 3, 1});  // of the sequence
  const Tensor first = outputs_of(*kept, on(halves.row(0).reshape({1, 2, 3, 3, 1})))[0];
  expect_close(outputs_of(*kept, on(halves.row(1).reshape({1, 2, 3, 3, 1})))[0], wanted, 1e-6,
               "second half");
  kept->reset_states();
  EXPECT_EQ(kept->states()[0].shape(), Shape({1, 3, 3, 2}));
  EXPECT_EQ(kept->states()[0].value().at(0), 0);
  EXPECT_FALSE(first == wanted);
}

TEST(ConvLSTM1D, RefusesWhatKerasRefuses) {
  expect_user_error(
      [] { ConvLSTM1D({.filters = 1, .kernel_size = 1, .strides = 2, .dilation_rate = 3}); },
      "Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Please provide "
      "`strides=1` or `dilation_rate=1`. Received: strides=(2,) and dilation_rate=(3,)");
  expect_user_error(
      [] {
        ConvLSTM1D({.filters = 1, .kernel_size = {1, 2}});
      },
      "The `kernel_size` argument must be a tuple of 1 integers.");
  expect_user_error([] { ConvLSTM1D({.filters = 1, .kernel_size = 1, .padding = "causal"}); },
                    "The `padding` argument must be one of {'valid', 'same'}");
  expect_user_error([] { ConvLSTM1D({.filters = 0, .kernel_size = 1}); }, "`filters`");
  expect_user_error(
      [] {
        ConvLSTM1D({.filters = 1, .kernel_size = 1, .strides = 0})(Input({3, 4, 2}));
      },
      "expected positive strides, got (0,)");
  expect_user_error(
      [] {
        ConvLSTM1D({.filters = 1, .kernel_size = 1}, "c")(Input({4, 2}));
      },
      "Input 0 of layer 'c' is incompatible with the layer: expected ndim=4, found "
      "ndim=3");
}

TEST(ConvLSTM2D, RefusesUnknownAndUnfitSizes) {
  const auto call = [](const Shape& shape) {
    ConvLSTM2D({.filters = 1, .kernel_size = 3})(Input(shape));
  };
  expect_user_error(
      [&] {
        call({3, unknown, 4, 2});
      },
      "ConvLSTM layers only support static input shapes for the spatial dimension. "
      "Received invalid input shape: input_shape=(None, None, 4, 2)");
  expect_user_error(
      [&] {
        call({3, 4, 4, unknown});
      },
      "The channel dimension of the inputs (last axis) should be defined. Found "
      "None. Full input shape received: input_shape=(None, 4, 4, None)");
  expect_user_error([&] { call({3, 4, 2, 2}); }, "Computed output size would be zero or negative");
  const ConvLSTM2D built({.filters = 1, .kernel_size = 3});
  built(Input({3, 5, 5, 2}));
  expect_user_error(
      [&] {
        built(Input({3, 6, 5, 2}));
      },
      {"layer 'conv_lstm_cell' is incompatible", "(None, 6, 5, 2)"});
  const ConvLSTM2D with_states({.filters = 1, .kernel_size = 3});
  fill(*with_states, {2, 3, 5, 5, 2});
  const auto states =
      from_states(on(noise({2, 3, 5, 5, 2})), {noise({2, 5, 5, 1}), noise({2, 5, 5, 1})});
  expect_user_error([&] { outputs_of(*with_states, states); },
                    "initial state 0 must be of shape (2, 3, 3, 1), got (2, 5, 5, 1)");
}

}  // namespace
}  // namespace keratin

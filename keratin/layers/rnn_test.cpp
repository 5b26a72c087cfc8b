#include "keratin/layers/rnn.h"

#include "keratin/graph/input.h"
#include "keratin/layers/gru.h"
#include "keratin/layers/lstm.h"
#include "keratin/layers/rnn_cell.h"
#include "keratin/layers/rnn_testing.h"
#include "keratin/layers/simple_rnn.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/random.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_close;
using testing::expect_user_error;
using testing::fill;
using testing::from_states;
using testing::noise;
using testing::on;
using testing::outputs_of;
using testing::sequences;
using testing::step_of;
using testing::steps_of;
using testing::with_mask;

TEST(RNN, BehavesAsInKeras) { check_layer("RNN", {.states = testing::states_of}); }

struct OwnConfig {
  int64_t units = 2;
  static constexpr std::string_view keras_name = "OwnCell";
  static constexpr auto fields = field_list(field("units", &OwnConfig::units));
};

// A user's cell: h ← x·kernel + 0.5 h, y = (h, h), n ← n + 1; two states of two shapes.
class OwnCell final : public LayerOf<OwnCell, OwnConfig, RnnCell> {
 public:
  OwnCell(OwnConfig config, LayerOptions options) : LayerOf(config, std::move(options)) {}

  Tree<Shape> state_shapes() const override {
    return Tree<Shape>::List{Shape{cfg.units}, Shape{1}};
  }
  Shape output_shape() const override { return {2 * cfg.units}; }
  void build(const Shapes& inputs) override {
    kernel_ = add_weight("kernel", {inputs[0].back(), cfg.units}, "ones");
  }
  Results call(const Call& c) const override {
    const Values before = states(c);
    const Value h = ops::matmul(c.input(), c.read(kernel_)) + before[0] * 0.5;
    return stepped(c, ops::concatenate({h, h}, 1), {h, before[1] + 1.0});
  }

 private:
  Variable kernel_;
};

TEST(RNN, RunsACustomCell) {
  const RNN layer({.cell = std::make_shared<OwnCell>(OwnConfig{}, LayerOptions{"own"}),
                   .return_sequences = true,
                   .return_state = true},
                  "rnn");
  const Tensor x = noise({2, 4, 3});
  const auto out = outputs_of(*layer, on(x));
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].shape(), Shape({2, 4, 4}));
  for (int64_t b = 0; b < 2; ++b) {
    double h = 0;
    for (int64_t t = 0; t < 4; ++t) {
      h *= 0.5;
      for (int64_t f = 0; f < 3; ++f) h += x.at((b * 4 + t) * 3 + f);
      for (int64_t u = 0; u < 4; ++u) EXPECT_NEAR(out[0].at((b * 4 + t) * 4 + u), h, 1e-5);
    }
    EXPECT_EQ(out[2].at(b), 4);
  }
  EXPECT_EQ(layer->weights()[0].path(), "rnn/own/kernel");
  EXPECT_EQ(layer->get_config().at("cell").at("class_name"), Json("OwnCell"));
}

TEST(RNN, SkipsMaskedSteps) {
  const RNN layer(
      {.cell = std::make_shared<OwnCell>(OwnConfig{}, LayerOptions{}), .return_state = true});
  const auto out = outputs_of(*layer, on(noise({2, 4, 3}), "1101 0000"));
  EXPECT_EQ(out[2].to_vector(), (std::vector<double>{3, 0}));
  for (int64_t i = 4; i < 8; ++i) EXPECT_EQ(out[0].at(i), 0) << "no step, no output";
}

TEST(RNN, StacksACustomCell) {
  const RNN layer(
      {.cell = StackedRNNCells({.cells = {std::make_shared<OwnCell>(OwnConfig{}, LayerOptions{}),
                                          GRUCell({.units = 3})}}),
       .return_state = true});
  const auto y = layer(Input({unknown, 5}));
  EXPECT_EQ(y.outline(), "[*, [*, *], [*]]");
  EXPECT_EQ(y[0].leaf().shape(), Shape({unknown, 3}));
  EXPECT_EQ(layer->weights()[1].shape(), Shape({4, 9})) << "what the cell below gives";
}

struct CountingConfig {
  bool adds_loss = false;
  static constexpr std::string_view keras_name = "CountingCell";
  static constexpr auto fields = field_list(field("adds_loss", &CountingConfig::adds_loss));
};

// y = a random number of its own in each step; counts its calls in a variable.
class CountingCell final : public LayerOf<CountingCell, CountingConfig, RnnCell> {
 public:
  CountingCell(CountingConfig config, LayerOptions options)
      : LayerOf(config, std::move(options)), seed_(add_seed(3)) {}

  Tree<Shape> state_shapes() const override { return Shape{1}; }
  void build(const Shapes&) override {
    steps_ = add_weight("steps", {}, "zeros", {.trainable = false});
  }
  Results call(const Call& c) const override {
    const Shape shape{c.input().shape()[0], 1};
    const int64_t words = shape.known() ? ops::random_words(DType::f32, shape) : 4;
    c.update(steps_, c.read(steps_) + 1.0);
    const Value y = ops::random_uniform(c.random_key(seed_, words), DType::f32, shape);
    if (cfg.adds_loss) c.add_loss(ops::sum(y));
    return stepped(c, y, {y});
  }

 private:
  Variable seed_, steps_;
};

TEST(RNN, CarriesVariablesThatACellUpdates) {
  const RNN layer({.cell = std::make_shared<CountingCell>(CountingConfig{}, LayerOptions{}),
                   .return_sequences = true});
  const auto first = outputs_of(*layer, on(noise({1, 6, 2})))[0].to_vector();
  for (size_t t = 1; t < first.size(); ++t) EXPECT_NE(first[t], first[t - 1]) << "step " << t;
  EXPECT_EQ(layer->weights()[0].value().at(0), 6);
  const auto second = outputs_of(*layer, on(noise({1, 6, 2})))[0].to_vector();
  EXPECT_NE(first, second);
  EXPECT_EQ(layer->weights()[0].value().at(0), 12);
  EXPECT_NO_THROW(layer(Input({unknown, 2})));
}

TEST(RNN, RefusesALossOfItsCell) {
  const RNN layer(
      {.cell = std::make_shared<CountingCell>(CountingConfig{.adds_loss = true}, LayerOptions{})});
  expect_user_error([&] { outputs_of(*layer, on(noise({1, 6, 2}))); }, "loss");
}

TEST(RNN, IgnoresMaskedInputs) {
  for (const bool fused : {false, true}) {
    const LSTM layer({.units = 4,
                      .recurrent_activation = fused ? "sigmoid" : "hard_sigmoid",
                      .return_sequences = true,
                      .return_state = true});
    fill(*layer, sequences);
    Tensor x = noise(sequences);
    const std::string mask = "00111 10010";
    const auto out = outputs_of(*layer, on(x, mask));
    const auto gradients = testing::values_and_gradients(*layer, on(x, mask));
    const Tensor& dx = gradients[3];
    const Tensor bits = testing::mask_of(mask);
    for (int64_t i = 0; i < 10; ++i)
      for (int64_t f = 0; f < 3; ++f) {
        EXPECT_EQ(dx.at(3 * i + f) != 0, bits.at(i) != 0) << "gradient at " << i;
        if (bits.at(i) == 0) x.set(3 * i + f, 1e6);
      }
    const auto again = outputs_of(*layer, on(x, mask));
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], again[i]);
    for (int64_t u = 0; u < 8; ++u) EXPECT_EQ(out[0].at(u), 0) << "before the first step";
    for (int64_t u = 0; u < 4; ++u) EXPECT_EQ(out[0].at(20 + u), out[0].at(24 + u)) << "repeated";
  }
}

TEST(RNN, TreatsPaddingAsAShorterSequence) {
  const GRU layer({.units = 4});
  fill(*layer, {1, 5, 3});
  const Tensor x = noise({1, 5, 3});
  const Tensor whole = outputs_of(*layer, on(steps_of(x, 0, 3)))[0];
  expect_close(outputs_of(*layer, on(x, "11100"))[0], whole, 1e-6, "padded right");
  const Tensor end = outputs_of(*layer, on(steps_of(x, 2, 5)))[0];
  expect_close(outputs_of(*layer, on(x, "00111"))[0], end, 1e-6, "padded left");
}

TEST(RNN, TakesMasksOfOtherDtypes) {
  const SimpleRNN layer({.units = 4});
  fill(*layer, sequences);
  const Tensor x = noise(sequences);
  const Tensor wanted = outputs_of(*layer, on(x, "11100 11111"))[0];
  auto inputs = on(x);
  const Tensor bits = testing::mask_of("11100 11111");
  inputs.named["mask"] = MaskedTensor{bits.cast(DType::f32)};
  EXPECT_EQ(outputs_of(*layer, inputs)[0], wanted);
  inputs.named["mask"] = MaskedTensor{bits.reshape({2, 5, 1})};
  EXPECT_EQ(outputs_of(*layer, inputs)[0], wanted);
  inputs.named["mask"] = MaskedTensor{bits.reshape({10})};
  expect_user_error([&] { outputs_of(*layer, inputs); },
                    {"the mask must be of shape (batch, timesteps)", "(10,)"});
}

// Keras 3 drops an attached mask once states are passed; Keras 2 does not.
TEST(RNN, AppliesTheMaskBesideStatesByDialect) {
  const LSTM layer({.units = 4, .return_sequences = true});
  fill(*layer, sequences);
  const Tensor x = noise(sequences);
  const std::vector<Tensor> states{noise({2, 4}, 2), noise({2, 4}, 3)};
  const Tensor plain = outputs_of(*layer, from_states(on(x), states))[0];
  const Tensor masked = outputs_of(*layer, from_states(with_mask(on(x), "11100 11010"), states))[0];
  EXPECT_FALSE(plain == masked);
  const auto attached = from_states(on(x, "11100 11010"), states);
  const RunResult keras3 = run_layer(*layer, attached);
  EXPECT_EQ(keras3.outputs.leaf(), plain);
  EXPECT_TRUE(keras3.masks[0].has_value()) << "it is passed on";
  EXPECT_EQ(run_layer(*layer, attached, {.dialect = Dialect::keras2}).outputs.leaf(), masked);
}

// Keras 2 passes the states in a list with the input.
TEST(RNN, TakesStatesInAListWithTheInput) {
  const LSTM layer({.units = 4});
  fill(*layer, sequences);
  const Tensor x = noise(sequences), h = noise({2, 4}, 2), c = noise({2, 4}, 3);
  const Tensor wanted = outputs_of(*layer, from_states(on(x), {h, c}))[0];
  testing::LayerInputs listed;
  listed.positional.emplace_back(Tree<MaskedTensor>::List{
      MaskedTensor{x, testing::mask_of("11100 11111")}, MaskedTensor{h}, MaskedTensor{c}});
  EXPECT_EQ(outputs_of(*layer, listed)[0], wanted);
  const Tensor masked = outputs_of(*layer, from_states(with_mask(on(x), "11100 11111"), {h, c}))[0];
  EXPECT_EQ(outputs_of(*layer, listed, {.dialect = Dialect::keras2})[0], masked);
  const Symbols y = LSTM({.units = 4})({Input({5, 3}), Input({4}), Input({4})});
  EXPECT_EQ(y.leaf().shape(), Shape({unknown, 4}));
}

TEST(RNN, ContinuesFromTheLastBatchWhenStateful) {
  const Tensor x = noise({2, 6, 3});
  const std::vector<LayerPtr> layers{
      LSTM({.units = 4, .stateful = true}), GRU({.units = 4, .stateful = true}),
      RNN({.cell = StackedRNNCells({.cells = {LSTMCell({.units = 2}), GRUCell({.units = 4})}}),
           .stateful = true})};
  const std::vector<LayerPtr> whole{
      LSTM({.units = 4}), GRU({.units = 4}),
      RNN({.cell = StackedRNNCells({.cells = {LSTMCell({.units = 2}), GRUCell({.units = 4})}})})};
  for (size_t i = 0; i < layers.size(); ++i) {
    auto& layer = dynamic_cast<RecurrentLayer&>(*layers[i]);
    EXPECT_NO_THROW(layer.reset_states());
    fill(layer, {2, 3, 3});
    fill(*whole[i], {2, 6, 3});
    const Tensor wanted = outputs_of(*whole[i], on(x))[0];
    const Tensor first = outputs_of(layer, on(steps_of(x, 0, 3)))[0];
    expect_close(outputs_of(layer, on(steps_of(x, 3, 6)))[0], wanted, 1e-6, "second half");
    EXPECT_NE(layer.states()[0].value().at(0), 0);
    layer.reset_states();
    EXPECT_EQ(outputs_of(layer, on(steps_of(x, 0, 3)))[0], first);
    EXPECT_EQ(layer.weights().size(), whole[i]->weights().size()) << "states are no weights";
  }
}

TEST(RNN, InfersShapesOfUnknownLengths) {
  const auto x = Input({unknown, 3});
  for (const LayerPtr& layer : std::vector<LayerPtr>{
           LSTM({.units = 4, .return_sequences = true, .return_state = true}),
           GRU({.units = 4, .activation = "relu", .return_sequences = true, .return_state = true}),
           SimpleRNN({.units = 4, .return_sequences = true, .return_state = true}),
           LSTM({.units = 4, .dropout = 0.5, .return_sequences = true, .return_state = true})}) {
    const Symbols y = (*layer)(x, {{"training", true}});
    EXPECT_EQ(y[0].leaf().shape(), Shape({unknown, unknown, 4}));
    EXPECT_EQ(y[1].leaf().shape(), Shape({unknown, 4}));
  }
}

TEST(RNN, NamesItsCellAsKeras) {
  const RNN layer(
      {.cell = StackedRNNCells({.cells = {LSTMCell({.units = 2}), GRUCell({.units = 4})}})});
  ASSERT_EQ(layer->sublayers().size(), 1u);
  EXPECT_EQ(layer->sublayers()[0].attribute, "cell");
  const auto cells = layer->cell()->sublayers();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[1].attribute, "cells");
  EXPECT_EQ(cells[1].layer->class_name(), "GRUCell");
}

TEST(RNN, RefusesWhatKerasRefuses) {
  expect_user_error([] { RNN(RNNConfig{}); }, "`cell`");
  expect_user_error([] { RNN({.cell = LSTM({.units = 2}, "l")}); }, {"state_size", "LSTM 'l'"});
  expect_user_error([] { StackedRNNCells(StackedRNNCellsConfig{}); }, "at least one cell");
  expect_user_error(
      [] {
        LSTM({.units = 3, .stateful = true})(Input({4, 3}));
      },
      "When using `stateful=True` in a RNN, the batch size must be static. Found "
      "dynamic batch size: sequence.shape=(None, 4, 3)");
  expect_user_error(
      [] {
        LSTM({.units = 3, .unroll = true})(Input({unknown, 3}));
      },
      "Cannot unroll a RNN if the time dimension is undefined.");
  const LSTM kept({.units = 3, .stateful = true});
  kept->ensure_built({{2, 4, 3}});
  expect_user_error(
      [&] {
        outputs_of(*kept, on(noise({3, 4, 3})));
      },
      {"If an RNN is stateful, the batch size of the input sequences must be the "
       "same as the batch size of the initial state.",
       "Expected batch size: 2", "Received batch size: 3"});
}

}  // namespace
}  // namespace keratin

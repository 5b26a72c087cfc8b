#include "keratin/layers/lstm.h"

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;
using testing::fill;
using testing::from_states;
using testing::in_f64;
using testing::noise;
using testing::on;
using testing::outputs_of;
using testing::sequences;
using testing::with_mask;

void expect_lstm_same_as_loop(LSTMConfig config, const testing::LayerInputs& inputs,
                              bool training = false) {
  testing::expect_same_as_loop<LSTM, LSTMCell, LSTMFields>(std::move(config), inputs, training);
}

TEST(LSTM, BehavesAsInKeras) { check_layer("LSTM", {.states = testing::states_of}); }

TEST(LSTM, OpEqualsLoop) {
  const Tensor x = noise(sequences, 1, DType::f64);
  for (const char* bits : {"", "11100 11111", "00111 00001", "10101 01010", "00000 11000"})
    for (const bool zeros : {false, true})
      for (const bool back : {false, true})
        for (const bool all : {false, true}) {
          SCOPED_TRACE(text(bits, zeros, back, all));
          expect_lstm_same_as_loop({.return_sequences = all,
                                    .return_state = true,
                                    .go_backwards = back,
                                    .zero_output_for_mask = zeros},
                                   on(x, bits));
        }
  expect_lstm_same_as_loop({.use_bias = false, .return_sequences = true}, on(x));
}

TEST(LSTM, StartsFromStatesUnderAMask) {
  const auto inputs = from_states(with_mask(on(noise(sequences, 1, DType::f64)), "00111 00000"),
                                  {noise({2, 4}, 2, DType::f64), noise({2, 4}, 3, DType::f64)});
  for (const bool all : {false, true})
    expect_lstm_same_as_loop({.return_sequences = all, .return_state = true}, inputs);
}

TEST(LSTM, OpEqualsLoopWithDropout) {
  const auto x = on(noise(sequences, 1, DType::f64), "11100 11111");
  expect_lstm_same_as_loop({.dropout = 0.4, .return_sequences = true}, x, true);
  expect_lstm_same_as_loop({.dropout = 0.4, .recurrent_dropout = 0.3, .return_sequences = true}, x,
                           true);
  expect_lstm_same_as_loop({.dropout = 0.4, .return_sequences = true, .implementation = 1}, x,
                           true);
}

TEST(LSTM, DrawsMasksPerGateWhereKerasDoes) {
  const auto masks = [](LSTMCellConfig config, bool training) {
    config.units = 4;
    const LSTMCell cell(config);
    Module module;
    Tracer tracer(module, training);
    const Call call(tracer, *cell, {}, training);
    const Value x = module.input({DType::f32, {2, 3}});
    return cell->draw(call, x, {3}).outline();
  };
  EXPECT_EQ(masks({.dropout = 0.5, .recurrent_dropout = 0.5}, false), "None");
  EXPECT_EQ(masks({.dropout = 0.5}, true), "[[*], []]");
  EXPECT_EQ(masks({.dropout = 0.5, .implementation = 1}, true), "[[*, *, *, *], []]");
  EXPECT_EQ(masks({.dropout = 0.5, .recurrent_dropout = 0.2}, true),
            "[[*, *, *, *], [*, *, *, *]]");
  EXPECT_EQ(masks({.dropout = 1.0}, true), "[[], []]");  // Keras leaves a rate of 1 out
}

TEST(LSTM, DropsOnlyInTraining) {
  const auto x = on(noise(sequences));
  for (const double recurrent : {0.0, 0.5}) {
    const LSTM layer({.units = 4, .dropout = 0.5, .recurrent_dropout = recurrent, .seed = 3});
    const LSTM same({.units = 4, .dropout = 0.5, .recurrent_dropout = recurrent, .seed = 3});
    const LSTM plain({.units = 4});
    for (const LSTM& l : {layer, same, plain}) fill(*l, sequences);
    EXPECT_EQ(outputs_of(*layer, x)[0], outputs_of(*plain, x)[0]);
    const Tensor first = outputs_of(*layer, x, {.training = true})[0];
    EXPECT_EQ(first, outputs_of(*same, x, {.training = true})[0]) << "same seed";
    EXPECT_FALSE(first == outputs_of(*layer, x, {.training = true})[0]) << "the stream goes on";
    EXPECT_FALSE(first == outputs_of(*plain, x)[0]);
  }
}

TEST(LSTM, InitializesTheForgetBiasWithOnes) {
  const LSTM open({.units = 2, .bias_initializer = initializers::Constant(0.5)});
  open->ensure_built({sequences});
  EXPECT_EQ(open->get_weights()[2].to_vector(),
            (std::vector<double>{0.5, 0.5, 1, 1, 0.5, 0.5, 0.5, 0.5}));
  const LSTM plain({.units = 2, .unit_forget_bias = false});
  plain->ensure_built({sequences});
  EXPECT_EQ(plain->get_weights()[2].to_vector(), std::vector<double>(8, 0.0));
}

TEST(LSTM, ReadsConfigsOfKeras2) {
  const LSTM layer({.units = 4}, "lstm");
  Json config = layer->get_config();
  EXPECT_FALSE(config.contains("implementation"));
  config["implementation"] = 1;
  config["time_major"] = false;
  std::string unknown_keys;
  ConfigContext context;
  context.unknown_key = [&](std::string_view, std::string_view key) { unknown_keys += key; };
  const LayerPtr read = LSTMLayer::from_config(config, context);
  EXPECT_EQ(unknown_keys, "");
  EXPECT_EQ(read->get_config(), layer->get_config());
  EXPECT_EQ(dynamic_cast<const LSTMLayer&>(*read).config().implementation, 1);
  EXPECT_EQ(dynamic_cast<const LSTMLayer&>(*read->fresh_copy()).config().implementation, 1);
  config["time_major"] = true;
  expect_user_error([&] { LSTMLayer::from_config(config, context); }, "time_major=True");
}

// As in Keras's file initial_state_masked; Keras cannot read several states in one list with x.
TEST(LSTM, WritesInputAndStateShapesSeparately) {
  const LSTM layer({.units = 4});
  layer(Input({5, 3}), {{"initial_state", {Input({4}), Input({4})}}});
  EXPECT_EQ(serialize_layer(*layer).at("build_config"), Json::parse(R"({"shapes_dict": {
      "sequences_shape": [null, 5, 3], "initial_state_shape": [[null, 4], [null, 4]]}})"));
}

// Keras builds a cell by the shape of its input alone.
TEST(LSTM, WritesTheShapeOfACellsInput) {
  const LSTMCell cell({.units = 4});
  cell(Input({3}), {{"states", {Input({4}), Input({4})}}});
  EXPECT_EQ(serialize_layer(*cell).at("build_config"),
            Json::parse(R"({"input_shape": [null, 3]})"));
}

TEST(LSTM, ComputesInHalves) {
  for (const char* policy : {"mixed_float16", "mixed_bfloat16", "float16"}) {
    const LSTM layer({.units = 4, .return_sequences = true}, {.dtype = DTypePolicy(policy)});
    const LSTM exact({.units = 4, .return_sequences = true});
    fill(*layer, sequences);
    fill(*exact, sequences);
    const auto x = on(noise(sequences), "11100 11111");
    const Tensor y = outputs_of(*layer, x)[0];
    EXPECT_EQ(y.dtype(), layer->compute_dtype());
    testing::expect_close(y.cast(DType::f32), outputs_of(*exact, x)[0], 3e-2, policy);
  }
}

TEST(LSTM, RefusesWhatKerasRefuses) {
  expect_user_error([] { LSTM({.units = 0}); },
                    "Received an invalid value for argument `units`, expected a positive integer, "
                    "got 0.");
  expect_user_error(
      [] {
        LSTM({.units = 3}, "lstm")
        (Input({3}));
      },
      {"'lstm' is incompatible with the layer: ", "expected ndim=3, found ndim=2"});
  const LSTM layer({.units = 3}, "lstm");
  const auto h = Input({3}), x = Input({4, 3});
  expect_user_error(
      [&] {
        layer(x, {{"initial_state", {h}}});
      },
      {"LSTM 'lstm'", "expected 2 initial state tensors, got 1"});
  expect_user_error(
      [&] {
        layer(x, {{"initial_state", {h, Input({5})}}});
      },
      {"LSTM 'lstm'", "initial state 1 must be of shape (None, 3)", "(None, 5)"});
}

}  // namespace
}  // namespace keratin

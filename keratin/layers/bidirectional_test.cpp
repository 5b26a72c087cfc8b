#include "keratin/layers/wrappers.h"

#include "keratin/graph/input.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/gru.h"
#include "keratin/layers/lstm.h"
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
using testing::sequences;
using testing::steps_of;
using testing::with_mask;

TEST(Bidirectional, BehavesAsInKeras) {
  check_layer("Bidirectional", {.states = testing::states_of});
}

TEST(Bidirectional, EqualsTwoLayersAndAMerge) {
  const Bidirectional both({.layer = GRU({.units = 4}), .merge_mode = nullptr});
  const GRU forward({.units = 4}), backward({.units = 4, .go_backwards = true});
  fill(*both, sequences);
  forward->ensure_built({sequences});
  backward->ensure_built({sequences});
  const auto weights = both->get_weights();
  ASSERT_EQ(weights.size(), 6u);
  forward->set_weights({weights.begin(), weights.begin() + 3});
  backward->set_weights({weights.begin() + 3, weights.end()});
  const auto x = on(noise(sequences), "00111 11010");
  const auto out = outputs_of(*both, x);
  EXPECT_EQ(out[0], outputs_of(*forward, x)[0]);
  EXPECT_EQ(out[1], outputs_of(*backward, x)[0]);
}

TEST(Bidirectional, CopiesTheLayerItIsGiven) {
  const LSTM layer({.units = 4, .return_sequences = true}, "lstm");
  layer(Input({5, 3}));
  const Bidirectional both({.layer = layer});
  both(Input({5, 3}));
  EXPECT_EQ(both->forward_layer()->name(), "forward_lstm");
  EXPECT_EQ(both->backward_layer()->name(), "backward_lstm");
  EXPECT_TRUE(both->backward_layer()->flags().go_backwards);
  for (const Variable& theirs : both->weights())
    for (const Variable& v : layer->weights()) EXPECT_FALSE(v == theirs);
  // Outputs of masked steps are zeros in both directions, so merged outputs are zeros, too.
  EXPECT_TRUE(both->forward_layer()->flags().zero_output_for_mask);
  EXPECT_TRUE(both->backward_layer()->flags().zero_output_for_mask);
  EXPECT_FALSE(layer->flags().zero_output_for_mask);
}

TEST(Bidirectional, NamesItsLayersAsKeras) {
  const Bidirectional both({.layer = LSTM({.units = 4}),
                            .backward_layer = GRU({.units = 2, .go_backwards = true}, "back")});
  const auto parts = both->sublayers();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].attribute, "forward_layer");
  EXPECT_EQ(parts[1].attribute, "backward_layer");
  EXPECT_EQ(parts[1].layer->name(), "back");
  both->set_trainable(false);
  both(Input({5, 3}));
  EXPECT_TRUE(both->trainable_weights().empty());
}

TEST(Bidirectional, PassesOnAMaskArgumentBesideStates) {
  const Bidirectional both({.layer = GRU({.units = 4, .return_sequences = true})});
  fill(*both, sequences);
  const Tensor x = noise(sequences);
  const std::vector<Tensor> states{noise({2, 4}, 2), noise({2, 4}, 3)};
  const Tensor plain = outputs_of(*both, from_states(on(x), states))[0];
  const auto attached = from_states(on(x, "11100 00111"), states);
  const Tensor masked = outputs_of(*both, from_states(with_mask(on(x), "11100 00111"), states))[0];
  EXPECT_FALSE(plain == masked);
  for (int64_t u = 3 * 8; u < 5 * 8; ++u) EXPECT_EQ(masked.at(u), 0) << "masked steps";
  EXPECT_EQ(outputs_of(*both, attached)[0], plain) << "as Keras 3";
  EXPECT_EQ(outputs_of(*both, attached, {.dialect = Dialect::keras2})[0], masked);
}

TEST(Bidirectional, KeepsStatesOfBothDirections) {
  const Bidirectional both({.layer = LSTM({.units = 4, .stateful = true})});
  fill(*both, {2, 3, 3});
  const Tensor x = noise({2, 3, 3});
  const Tensor first = outputs_of(*both, on(x))[0];
  EXPECT_FALSE(first == outputs_of(*both, on(x))[0]);
  EXPECT_EQ(both->states().size(), 4u);
  both->reset_states();
  EXPECT_EQ(outputs_of(*both, on(x))[0], first);
  expect_user_error([] { Bidirectional({.layer = GRU({.units = 4})})->reset_states(); },
                    "Layer must be stateful.");
}

TEST(Bidirectional, HasAGradient) {
  const Bidirectional one_op({.layer = GRU({.units = 4, .return_sequences = true}, in_f64)},
                             in_f64);
  const Bidirectional loop(
      {.layer = RNN({.cell = GRUCell({.units = 4}, in_f64), .return_sequences = true}, in_f64)},
      in_f64);
  fill(*one_op, sequences);
  fill(*loop, sequences);
  testing::expect_same_behaviour(*one_op, *loop,
                                 on(noise(sequences, 1, DType::f64), "11100 11011"));
}

TEST(Bidirectional, RefusesWhatKerasRefuses) {
  expect_user_error([] { Bidirectional(BidirectionalConfig{}); },
                    "Please initialize `Bidirectional` layer with");
  expect_user_error([] { Bidirectional({.layer = Dense({.units = 3}, "d")}); },
                    {"Please initialize `Bidirectional` layer with", "Dense 'd'"});
  expect_user_error([] { Bidirectional({.layer = LSTM({.units = 3}), .merge_mode = "mix"}); },
                    "Invalid merge mode. Received: mix. Merge mode should be one of {\"sum\", "
                    "\"mul\", \"ave\", \"concat\", None}");
  expect_user_error([] { Bidirectional({.layer = LSTM({.units = 3, .go_backwards = true})}); },
                    "Forward layer and backward layer should have different `go_backwards` value. "
                    "Received: forward_layer.go_backwards True, backward_layer.go_backwards=True");
  const LSTM other({.units = 3, .return_sequences = true, .go_backwards = true});
  expect_user_error(
      [&] { Bidirectional({.layer = LSTM({.units = 3}), .backward_layer = other}); },
      "Forward layer and backward layer are expected to have the same value for attribute "
      "\"return_sequences\", got \"False\" for forward layer and \"True\" for backward layer");
  const Bidirectional both({.layer = LSTM({.units = 3})}, "both");
  const auto h = Input({3});
  expect_user_error(
      [&] {
        both(Input({4, 3}), {{"initial_state", {h, h, h}}});
      },
      {"Bidirectional 'both'", "both directions"});
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/gru.h"

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::fill;
using testing::from_states;
using testing::in_f64;
using testing::noise;
using testing::on;
using testing::sequences;

void expect_gru_same_as_loop(GRUConfig config, const testing::LayerInputs& inputs,
                             bool training = false) {
  testing::expect_same_as_loop<GRU, GRUCell, GRUFields>(std::move(config), inputs, training);
}

TEST(GRU, BehavesAsInKeras) { check_layer("GRU", {.states = testing::states_of}); }

TEST(GRU, OpEqualsLoop) {
  const Tensor x = noise(sequences, 1, DType::f64);
  for (const bool after : {false, true})
    for (const bool bias : {false, true})
      for (const char* bits : {"", "11100 11111", "00111 00001", "10101 01010", "00000 11000"})
        for (const bool zeros : {false, true})
          for (const bool back : {false, true}) {
            SCOPED_TRACE(text(after, bias, bits, zeros, back));
            expect_gru_same_as_loop({.use_bias = bias,
                                     .reset_after = after,
                                     .return_sequences = zeros,
                                     .return_state = true,
                                     .go_backwards = back,
                                     .zero_output_for_mask = zeros},
                                    on(x, bits));
          }
}

TEST(GRU, OpEqualsLoopWithDropout) {
  const auto x = on(noise(sequences, 1, DType::f64), "11100 11111");
  for (const bool after : {false, true})
    for (const double recurrent : {0.0, 0.3})
      expect_gru_same_as_loop({.dropout = 0.4,
                               .recurrent_dropout = recurrent,
                               .reset_after = after,
                               .return_sequences = true},
                              x, true);
}

TEST(GRU, HasASecondBiasOnlyWithResetAfter) {
  for (const bool after : {false, true}) {
    const GRU layer({.units = 4, .reset_after = after});
    layer(Input({5, 3}));
    EXPECT_EQ(layer->weights()[2].shape(), after ? Shape({2, 12}) : Shape({12}));
  }
}

// With recurrent dropout and a reset before, the mask of the last gate multiplies r·h.
TEST(GRUCell, DropsTheStateOfEachGate) {
  const GRUCell cell({.units = 2, .recurrent_dropout = 0.5, .reset_after = false, .seed = 1});
  fill(*cell, {64, 3});
  const auto inputs = from_states(on(noise({64, 3})), {noise({64, 2}, 2)});
  const auto kept = testing::outputs_of(*cell, inputs);
  const auto dropped = testing::outputs_of(*cell, inputs, {.training = true});
  int same = 0;
  for (int64_t i = 0; i < kept[0].count(); ++i) same += kept[0].at(i) == dropped[0].at(i) ? 1 : 0;
  EXPECT_LT(same, 16);
}

}  // namespace
}  // namespace keratin

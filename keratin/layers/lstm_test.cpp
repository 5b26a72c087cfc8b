#include "keratin/layers/lstm.h"

#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;

TEST(LSTM, BehavesAsInKeras) { check_layer("LSTM", {.states = testing::states_of}); }
TEST(LSTMCell, BehavesAsInKeras) { check_layer("LSTMCell"); }

}  // namespace
}  // namespace keratin

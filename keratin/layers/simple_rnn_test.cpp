#include "keratin/layers/simple_rnn.h"

#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;

TEST(SimpleRNN, BehavesAsInKeras) { check_layer("SimpleRNN", {.states = testing::states_of}); }
TEST(SimpleRNNCell, BehavesAsInKeras) { check_layer("SimpleRNNCell"); }

}  // namespace
}  // namespace keratin

#include "keratin/layers/gru.h"

#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;

TEST(GRU, BehavesAsInKeras) { check_layer("GRU", {.states = testing::states_of}); }
TEST(GRUCell, BehavesAsInKeras) { check_layer("GRUCell"); }

}  // namespace
}  // namespace keratin

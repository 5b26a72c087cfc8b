#include "keratin/layers/rnn.h"

#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;

TEST(RNN, BehavesAsInKeras) { check_layer("RNN", {.states = testing::states_of}); }
TEST(StackedRNNCells, BehavesAsInKeras) { check_layer("StackedRNNCells"); }

}  // namespace
}  // namespace keratin

#include "keratin/layers/bidirectional.h"

#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;

TEST(Bidirectional, BehavesAsInKeras) {
  check_layer("Bidirectional", {.states = testing::states_of});
}

}  // namespace
}  // namespace keratin

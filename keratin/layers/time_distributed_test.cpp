#include "keratin/layers/time_distributed.h"

#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::check_layer;

TEST(TimeDistributed, BehavesAsInKeras) {
  check_layer("TimeDistributed",
              {.skip = {"convolution", "embedding", "flatten", "batch normalization",
                        "batch normalization, training", "dropout, not training"}});
}

}  // namespace
}  // namespace keratin

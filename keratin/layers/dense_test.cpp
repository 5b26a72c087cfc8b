#include "keratin/layers/dense.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// The update of LoRA is float32 in any layer, too coarse for finite differences in double.
TEST(Dense, BehavesAsInKeras) {
  check_layer("Dense", {.no_gradient = {"lora", "lora, alpha is lost", "lora, float64",
                                        "lora, mixed_float16", "lora, regularizer, no bias"}});
}

TEST(Dense, RefusesBadUnits) {
  expect_user_error([] { Dense({.units = 0}); }, {"units", "0"});
}

TEST(Dense, RefusesWrongInputs) {
  expect_user_error([] { Dense({.units = 3})(Input({unknown})); }, "last dimension");
  const auto dense = Dense({.units = 3}, "d");
  dense(Input({4}));
  expect_user_error([&] { dense(Input({5})); },
                    {"Input 0 of layer 'd' is incompatible with the layer", "axis -1", "4", "5"});
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/core.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

TEST(LayerScale, RefusesOtherFeatures) {
  testing::expect_user_error(
      [] {
        LayerScale({.projection_dim = 3}, "scale")(Input({4, 2}));
      },
      "LayerScale 'scale': expected 3 features along the last axis, got shape (None, 4, 2)");
  testing::expect_user_error([] { LayerScale(); }, "projection_dim must be positive, got 0");
}

}  // namespace
}  // namespace keratin

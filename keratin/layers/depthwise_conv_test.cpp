#include "keratin/layers/conv.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(DepthwiseConv, TakesStridesAndDilationTogether) {
  const auto conv = DepthwiseConv1D({.kernel_size = 2, .strides = 2, .dilation_rate = 3});
  const SymbolicTensor y = conv(Input({8, 3}));
  EXPECT_EQ(y.shape(), Shape({unknown, 3, 3}));
}

TEST(DepthwiseConv, RefusesBadArgumentsAndInputs) {
  expect_user_error([] { DepthwiseConv1D({.depth_multiplier = 0, .kernel_size = 1}); },
                    {"depth_multiplier", "0"});
  expect_user_error([] { DepthwiseConv2D({.kernel_size = {2, 0}}); }, {"kernel_size", "(2, 0)"});
  expect_user_error([] { DepthwiseConv1D({.kernel_size = 1, .padding = "causal"}); }, "causal");
  expect_user_error(
      [] {
        DepthwiseConv1D({.kernel_size = 3})(Input({2, 4}));
      },
      {"zero or negative", "(None, 2, 4)"});
}

}  // namespace
}  // namespace keratin

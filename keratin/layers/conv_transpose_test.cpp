#include "keratin/layers/conv.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(ConvTranspose, LeavesUnknownSizesUnknown) {
  const auto conv = Conv2DTranspose({.filters = 4, .kernel_size = 3, .strides = 2});
  const SymbolicTensor y = conv(Input({unknown, 4, 2}));
  EXPECT_EQ(y.shape(), Shape({unknown, unknown, 9, 4}));
}

TEST(ConvTranspose, RefusesBadArguments) {
  expect_user_error([] { Conv1DTranspose({.filters = 0, .kernel_size = 1}); }, {"filters", "0"});
  expect_user_error([] { Conv1DTranspose({.filters = 1, .kernel_size = 1, .padding = "causal"}); },
                    {"padding", "causal"});
  expect_user_error(
      [] {
        Conv2DTranspose({.filters = 1, .kernel_size = 3, .strides = {2, 3}, .output_padding = 2});
      },
      {"dimension 0", "`output_padding` is 2", "`strides` is 2", "(2, 2)", "(2, 3)"});
  expect_user_error([] { Conv1DTranspose({.filters = 1, .kernel_size = 3, .output_padding = -1}); },
                    {"output_padding", ">= 0"});
  expect_user_error(
      [] { Conv1DTranspose({.filters = 1, .kernel_size = 3, .strides = 2, .dilation_rate = 2}); },
      "not supported in conjunction");
}

TEST(ConvTranspose, RefusesWrongInputs) {
  expect_user_error([] { Conv1DTranspose({.filters = 2, .kernel_size = 3})(Input({4})); },
                    {"expected min_ndim=3", "found ndim=2"});
  expect_user_error(
      [] {
        Conv1DTranspose({.filters = 2, .kernel_size = 3})(Input({4, unknown}));
      },
      "channel dimension");
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/conv.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(SeparableConv, RefusesBadArgumentsAndInputs) {
  expect_user_error([] { SeparableConv1D({.filters = 0, .kernel_size = 1}); }, {"filters", "0"});
  expect_user_error(
      [] { SeparableConv1D({.filters = 1, .kernel_size = 1, .depth_multiplier = -1}); },
      {"depth_multiplier", "-1"});
  expect_user_error(
      [] {
        SeparableConv2D({.filters = 1, .kernel_size = {2, 2, 2}});
      },
      {"tuple of 2 integers", "(2, 2, 2)"});
  expect_user_error(
      [] {
        SeparableConv1D({.filters = 1, .kernel_size = 3})(Input({2, 4}));
      },
      {"zero or negative", "(None, 2, 4)"});
}

}  // namespace
}  // namespace keratin

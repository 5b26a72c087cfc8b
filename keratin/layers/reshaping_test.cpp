#include "keratin/layers/reshaping.h"

#include <limits>

#include "keratin/graph/input.h"
#include "keratin/layers/borders.h"
#include "keratin/layers/up_sampling.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Flatten, KeepsUnknownSizesUnknown) {
  EXPECT_EQ(Flatten()(Input({unknown, 3})).leaf().shape(), Shape({unknown, unknown}));
  EXPECT_EQ(Flatten()(Input({4, 3})).leaf().shape(), Shape({unknown, 12}));
  expect_user_error([] { Flatten({.data_format = "sideways"}); }, {"data_format", "sideways"});
}

TEST(Reshape, InfersTheOpenSize) {
  EXPECT_EQ(Reshape({.target_shape = {-1, 2}})(Input({4, 3})).leaf().shape(),
            Shape({unknown, 6, 2}));
  EXPECT_EQ(Reshape({.target_shape = {-1, 3}})(Input({unknown, 3})).leaf().shape(),
            Shape({unknown, unknown, 3}));
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  expect_user_error([] { Reshape({.target_shape = {-1, -1}}); }, {"at most one", "(-1, -1)"});
  expect_user_error([] { Reshape({.target_shape = {-3}}); }, "(-3,)");
  expect_user_error(
      [] {
        Reshape({.target_shape = {5}}, "r")(Input({4, 3}));
      },
      {"Reshape 'r'", "input_shape=(4, 3)", "target_shape=(5,)"});
}

TEST(Permute, RefusesDimsThatAreNoPermutation) {
  expect_user_error([] { Permute({.dims = {0, 1}}); }, {"Permute", "start from 1", "(0, 1)"});
  expect_user_error([] { Permute({.dims = {1, 3}}); }, "(1, 3)");
  expect_user_error([] { Permute({.dims = {2, 1}})(Input({3})); }, {"expected ndim=3", "ndim=2"});
}

TEST(RepeatVector, RefusesZeroRepeats) {
  expect_user_error([] { RepeatVector({.n = 0}); }, {"`n`", "0"});
}

TEST(Cropping, TakesBordersAsKerasDoes) {
  const auto x = Input({9, 8, 3});
  EXPECT_EQ(Cropping2D({.cropping = 2})(x).leaf().shape(), Shape({unknown, 5, 4, 3}));
  EXPECT_EQ(Cropping2D({.cropping = {2, 1}})(x).leaf().shape(), Shape({unknown, 5, 6, 3}));
  EXPECT_EQ(Cropping2D({.cropping = {{2, 1}, {0, 3}}})(x).leaf().shape(),
            Shape({unknown, 6, 5, 3}));
  EXPECT_EQ(Cropping1D({.cropping = {2, 1}})(Input({9, 8})).leaf().shape(), Shape({unknown, 6, 8}));
  EXPECT_EQ(Cropping1D({.cropping = {2, 1}})(Input({unknown, 8})).leaf().shape(),
            Shape({unknown, unknown, 8}));
}

// Also if the sum of the two sides overflows.
TEST(Cropping, RefusesToLeaveNothing) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (const Side& side : {Side{4, 4}, Side{most, 1}, Side{1, most}, Side{most, most}})
    expect_user_error(
        [&] {
          Cropping2D({.cropping = {{0, 0}, side}})(Input({9, 8, 3}));
        },
        {"Values in `cropping` argument should be smaller than the corresponding "
         "spatial dimension of the input."});
}

TEST(Cropping, RefusesTooMuch) {
  expect_user_error(
      [] {
        Cropping2D({.cropping = {{1, 2}, {0, 0}}})(Input({3, 4, 1}));
      },
      {"cropping", "smaller", "(None, 3, 4, 1)", "((1, 2), (0, 0))"});
  expect_user_error([] { Cropping1D({.cropping = {-1, 1}}); }, {"negative", "(-1, 1)"});
  expect_user_error([] { Cropping3D({.cropping = {1, 2}}); }, {"expected 3 elements", "2"});
}

TEST(ZeroPadding, RefusesNegativeBorders) {
  expect_user_error([] { ZeroPadding2D({.padding = {{1, -2}, {0, 0}}}); }, {"padding", "negative"});
}

TEST(UpSampling, RefusesWhatItCannotDo) {
  expect_user_error([] { UpSampling1D({.size = 0}); }, {"`size`", "0"});
  expect_user_error([] { UpSampling2D({.size = {2, -1}}); }, {"`size`", "-1"});
  expect_user_error([] { UpSampling2D({.interpolation = "cubic"}); }, {"interpolation", "cubic"});
  expect_user_error(
      [] {
        UpSampling2D({.interpolation = "bilinear"})(Input({unknown, 4, 1}));
      },
      "must be known");
  EXPECT_EQ(UpSampling2D()(Input({unknown, 4, 1})).leaf().shape(), Shape({unknown, unknown, 8, 1}));
}

}  // namespace
}  // namespace keratin

#include "keratin/graph/input.h"
#include "keratin/layers/pooling.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(AdaptivePooling, GivesTheSizeForUnknownSizes) {
  const SymbolicTensor y = AdaptiveMaxPooling2D({.output_size = {3, 2}})(Input({unknown, 7, 4}));
  EXPECT_EQ(y.shape(), Shape({unknown, 3, 2, 4}));
  const SymbolicTensor z = AdaptiveAveragePooling3D(
      {.output_size = 2, .data_format = "channels_first"})(Input({5, unknown, unknown, 8}));
  EXPECT_EQ(z.shape(), Shape({unknown, 5, 2, 2, 2}));
}

TEST(AdaptivePooling, WritesOneSizeAsATuple) {
  const Json config = AdaptiveAveragePooling2D({.output_size = 5})->get_config();
  EXPECT_EQ(config.at("output_size"), Json::parse("[5, 5]"));
}

TEST(AdaptivePooling, RefusesBadSizes) {
  expect_user_error(
      [] {
        AdaptiveMaxPooling1D({.output_size = Sizes{1, 2}});
      },
      {"For 1D input, `output_size` tuple must have length 1", "(1, 2)"});
  expect_user_error([] { AdaptiveAveragePooling2D({.output_size = Sizes{1}}); },
                    {"`output_size` must be an integer or (height, width) tuple", "(1,)"});
  expect_user_error(
      [] {
        AdaptiveAveragePooling3D({.output_size = Sizes{1, 2}});
      },
      {"`output_size` must be an integer or (depth, height, width) tuple", "(1, 2)"});
  expect_user_error([] { AdaptiveMaxPooling2D({.output_size = 0}); }, {"positive", "(0, 0)"});
}

TEST(AdaptivePooling, RefusesOtherLayoutsAndRanks) {
  expect_user_error([] { AdaptiveMaxPooling1D({.data_format = "last"}); },
                    {"Invalid data_format: last", "'channels_first' or 'channels_last'"});
  expect_user_error([] { AdaptiveMaxPooling2D()(Input({4, 4})); }, {"ndim=4", "ndim=3"});
}

}  // namespace
}  // namespace keratin

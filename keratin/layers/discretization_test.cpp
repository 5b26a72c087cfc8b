#include <gtest/gtest.h>

#include "keratin/layers/preprocessing.h"
#include "keratin/layers/registry.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Discretization, AdaptsAsInKeras) {
  int adapted = 0;
  for (const Json& test : testing::read_golden("layers/Discretization.json").as_array()) {
    const Json* data = test.find("adapt");
    if (data == nullptr) continue;
    SCOPED_TRACE(test.at("name"));
    ++adapted;
    Json config = test.at("config");
    const Json expected = config.at("config").at("bin_boundaries");
    config["config"]["bin_boundaries"] = nullptr;
    const LayerPtr layer = layer_from_json(config);
    static_cast<DiscretizationLayer&>(*layer).adapt(testing::golden_tensor(*data));
    const Json found = layer->get_config().at("bin_boundaries");
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i].as_double(), expected[i].as_double(), 1e-6) << i;
  }
  EXPECT_EQ(adapted, 3);
}

TEST(Discretization, RefusesWhatKerasRefuses) {
  const auto with = [](DiscretizationConfig config) {
    return [config] { Discretization(config, LayerOptions{}); };
  };
  expect_user_error(with({}), "You need to set either `num_bins` or `bin_boundaries`.");
  expect_user_error(with({.num_bins = -1}), "`num_bins` must be greater than or equal to 0");
  expect_user_error(with({.bin_boundaries = {{1.0}}, .num_bins = 3}), "should not be set");
  expect_user_error(with({.bin_boundaries = {{1.0}}, .output_mode = "tf_idf"}),
                    "Unknown value for `output_mode` argument");
  expect_user_error(with({.bin_boundaries = {{1.0}}, .sparse = true}),
                    "`sparse=True` may only be used if `output_mode` is");
  expect_user_error([] { Discretization({.bin_boundaries = {{1.0}}})->adapt(Tensor({1.f})); },
                    "use `num_bins` instead");
}

}  // namespace
}  // namespace keratin

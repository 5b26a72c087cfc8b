#include "keratin/layers/wrappers.h"

#include <gtest/gtest.h>

#include "keratin/graph/input.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/registry.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::golden_tensor;

TEST(Wrapper, NamesItsWeightsAsKeras) {
  const Json cases = testing::read_golden("layers/Wrapper.json");
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("name"));
    const LayerPtr layer = layer_from_json(test.at("config"));
    layer->ensure_built({golden_tensor(test.at("inputs")).shape()});
    const Json& weights = test.at("weights");
    const auto mine = layer->weights();
    ASSERT_EQ(mine.size(), weights.size());
    for (size_t i = 0; i < mine.size(); ++i)
      EXPECT_EQ(mine[i].path(), weights[i].at("path").as_string());
    const LayerPtr copy = layer->fresh_copy();
    EXPECT_NE(copy->sublayers()[0].layer, layer->sublayers()[0].layer);
  }
}

TEST(Wrapper, NeedsALayerAndCannotBeCalled) {
  expect_user_error([] { Wrapper(WrapperConfig{}); }, {"None", "Wrapper", "layer type"});
  expect_user_error([] { Wrapper({.layer = Dense({.units = 2})})(Input({3})); },
                    {"does not have a `call()`"});
}

}  // namespace
}  // namespace keratin

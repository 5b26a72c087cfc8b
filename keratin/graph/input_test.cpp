#include "keratin/graph/input.h"

#include <gtest/gtest.h>

#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

Json config_with(const char* flag) {
  Json config = Json::parse(R"({"name": "x", "batch_shape": [null, 3], "dtype": "float32"})");
  config[flag] = true;
  return config;
}

TEST(InputLayer, KeepsFlagsOfItsConfig) {
  for (const char* flag : {"sparse", "optional"}) {
    const LayerPtr layer = InputLayer::from_config(config_with(flag), {});
    for (const LayerPtr& each : {layer, layer->fresh_copy()})
      for (const char* other : {"sparse", "optional", "ragged"})
        EXPECT_EQ(each->get_config().at(other).as_bool(), std::string(other) == flag) << flag;
  }
  const SymbolicTensor input = Input({.shape = {3}, .sparse = true});
  EXPECT_TRUE(input.layer()->get_config().at("sparse").as_bool());
}

TEST(InputLayer, RefusesRaggedTensors) {
  testing::expect_user_error([] { InputLayer::from_config(config_with("ragged"), {}); },
                             "InputLayer: ragged tensors are not supported");
}

}  // namespace
}  // namespace keratin

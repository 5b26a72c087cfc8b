#include "keratin/graph/input.h"

#include <gtest/gtest.h>

#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

Json config_with(const char* flag) {
  Json config = Json::parse(R"({"name": "x", "batch_shape": [null, 3], "dtype": "float32"})");
  config[flag] = true;
  return config;
}

TEST(InputLayer, KeepsFlagsOfItsConfig) {
  const testing::Warnings warnings;  // of the ragged one
  for (const char* flag : {"sparse", "optional", "ragged"}) {
    const LayerPtr layer = InputLayer::from_config(config_with(flag), {});
    for (const LayerPtr& each : {layer, layer->fresh_copy()})
      for (const char* other : {"sparse", "optional", "ragged"})
        EXPECT_EQ(each->get_config().at(other).as_bool(), std::string(other) == flag) << flag;
  }
  const SymbolicTensor input = Input({.shape = {3}, .sparse = true});
  EXPECT_TRUE(input.layer()->get_config().at("sparse").as_bool());
}

TEST(InputLayer, WarnsThatRaggedTensorsArePadded) {
  const testing::Warnings warnings;
  InputLayer::from_config(config_with("ragged"), {});
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("InputLayer 'x': its tensors are ragged in Keras"),
            std::string::npos);
}

TEST(InputLayer, RefusesTensorsThatAreSparseAndRagged) {
  testing::expect_user_error([] { Input({.shape = {3}, .sparse = true, .ragged = true}); },
                             "tensors cannot be both sparse and ragged");
}

}  // namespace
}  // namespace keratin

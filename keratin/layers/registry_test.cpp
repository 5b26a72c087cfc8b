#include "keratin/layers/registry.h"

#include <gtest/gtest.h>

#include "keratin/layers/core.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

// .keras files have the registered name beside the class, .h5 files in its place.
TEST(Registry, FindsClassesOfPackages) {
  const CustomObjects custom = {{"Mine", IdentityLayer::from_config}};
  const char* const envelopes[] = {
      R"({"class_name": "Mine", "registered_name": "golden>Mine", "config": {"name": "x"}})",
      R"({"class_name": "golden>Mine", "config": {"name": "x"}})",
      R"({"class_name": "Mine", "config": {"name": "x"}})"};
  for (const char* envelope : envelopes)
    EXPECT_EQ(layer_from_json(Json::parse(envelope), custom)->name(), "x") << envelope;
  const CustomObjects whole = {{"golden>Mine", IdentityLayer::from_config}};
  for (const char* envelope : {envelopes[0], envelopes[1]})
    EXPECT_EQ(layer_from_json(Json::parse(envelope), whole)->name(), "x") << envelope;
}

// A class of a package is not the class of Keras with that name.
TEST(Registry, RefusesUnregisteredClasses) {
  testing::expect_user_error(
      [] {
        layer_from_json(
            Json::parse(R"({"class_name": "golden>Dense", "config": {"name": "x", "units": 2}})"));
      },
      "Could not find the class 'golden>Dense' for layer 'x'");
}

// Keras does not export these, but the models that a FeatureSpace makes have them.
TEST(Registry, ReadsLayersOfFeatureSpaces) {
  const LayerPtr concat = layer_from_json(Json::parse(
      R"({"module": "keras.src.layers.preprocessing.feature_space", "class_name": "TFDConcat",
          "config": {"name": "c", "axis": 1}, "registered_name": "TFDConcat"})"));
  EXPECT_EQ(concat->class_name(), "Concatenate");
  EXPECT_EQ(concat->own_config().at("axis"), Json(1));
  const LayerPtr same = layer_from_json(Json::parse(
      R"({"module": "keras.src.layers.preprocessing.feature_space", "class_name": "TFDIdentity",
          "config": {"name": "i"}, "registered_name": "TFDIdentity"})"));
  EXPECT_EQ(same->class_name(), "Identity");
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/missing.h"

#include "keratin/layers/registry.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Json envelope(const std::string& class_name, Json module) {
  return Json::Object{{"module", std::move(module)},
                      {"class_name", class_name},
                      {"config", Json::Object{{"name", "it"}}}};
}

void expect_message(const Json& json, const std::string& whole) {
  try {
    layer_from_json(json);
    ADD_FAILURE() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), whole);
  }
}

TEST(MissingLayers, AreNotTakenForCustomLayers) {
  for (const std::string name : {"TFSMLayer", "JaxLayer", "FlaxLayer"})
    for (const Json& module : {Json("keras.layers"), Json("keras.src.layers.core"), Json()})
      expect_message(envelope(name, module),
                     "Layer 'it' is of the class '" + name +
                         "' of Keras, which Keratin does not have yet. A layer of yours can take "
                         "its place: load_model(path, {.custom_objects = {{\"" +
                         name + "\", YourLayer::from_config}}}).");
}

TEST(MissingLayers, OfOtherPackagesAreTakenForCustomLayers) {
  expect_message(
      envelope("JaxLayer", "mine.layers"),
      "Could not find the class 'JaxLayer' of module 'mine.layers' for layer 'it'. If it "
      "is a layer of yours, register it: load_model(path, {.custom_objects = {{\"JaxLayer\", "
      "YourLayer::from_config}}}).");
}

TEST(MissingLayers, AreMissing) {
  EXPECT_TRUE(is_missing_layer("TFSMLayer"));
  EXPECT_TRUE(is_missing_layer("JaxLayer"));
  EXPECT_TRUE(is_missing_layer("TorchModuleWrapper"));
  EXPECT_FALSE(is_missing_layer("Dense"));
  EXPECT_FALSE(is_missing_layer("NoSuchLayer"));
}

TEST(MissingLayers, CanBeReplacedByCustomLayers) {
  const CustomObjects mine = {
      {"TFSMLayer", [](const Json& config, const ConfigContext& context) {
         return context.make_layer(Json::Object{{"class_name", "Identity"}, {"config", config}});
       }}};
  EXPECT_EQ(layer_from_json(envelope("TFSMLayer", "keras.layers"), mine)->name(), "it");
}

}  // namespace
}  // namespace keratin

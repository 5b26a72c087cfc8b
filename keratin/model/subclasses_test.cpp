// Classes of the user's that are derived from Keras's models.
#include <gtest/gtest.h>
#include <unistd.h>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/file_editor.h"
#include "keratin/model/saving.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

class Subclasses : public ::testing::Test {
 protected:
  Subclasses() : folder_(fs::path(::testing::TempDir()) / text("keratin_subclasses_", getpid())) {
    fs::create_directories(folder_);
  }
  ~Subclasses() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

// A model of a class that has a functional config.
Json functional_of(const std::string& class_name, const std::string& name) {
  clear_session();
  const auto in = Input({.shape = {2}, .name = "in"});
  Json json = serialize_layer(
      *Model({.inputs = in, .outputs = Dense({.units = 2}, "dense")(in), .name = name}).layer());
  json["class_name"] = class_name;
  json["module"] = "studio.models";
  json["registered_name"] = "studio>" + class_name;
  return json;
}

TEST_F(Subclasses, OfFunctionalModelsOpen) {
  const Json json = functional_of("Painter", "painter");
  const testing::Warnings warnings;
  const Model model = model_from_json(json.dump());
  ASSERT_EQ(warnings.messages.size(), 1U);
  for (const char* part : {"'Painter'", "'painter'", "Functional", "`train_step`"})
    EXPECT_NE(warnings.messages[0].find(part), std::string::npos) << warnings.messages[0];
  ASSERT_NE(model.functional(), nullptr);
  for (const char* name : {"model.keras", "model.h5"}) {
    model.save(at(name));
    const Model again = load_model(at(name));
    EXPECT_EQ(again.get_weights()[0], model.get_weights()[0]);
    const Json saved = Json::parse(again.to_json());
    EXPECT_EQ(saved.at("class_name"), Json("Painter"));
    EXPECT_EQ(saved.at("registered_name"), Json("studio>Painter"));
  }
  EXPECT_EQ(Json::parse(load_model(at("model.keras")).to_json()).at("module"),
            Json("studio.models"));
}

// Keras passes these keys to the class.
TEST_F(Subclasses, KeepTheKeysOfTheirConfigs) {
  Json json = functional_of("Potter", "potter");
  json["config"]["scale"] = 3.5;
  json["config"]["kiln"] = Json::parse(R"({"heat": [1, 2]})");
  const testing::Warnings warnings;
  for (const char* name : {"model.keras", "model.h5"}) {
    model_from_json(json.dump()).save(at(name));
    const Model again = clone_model(load_model(at(name)));
    EXPECT_EQ(Json::parse(again.to_json()).at("config").at("scale"), Json(3.5)) << name;
    EXPECT_EQ(Json::parse(again.to_json()).at("config").at("kiln"), json["config"]["kiln"]) << name;
  }
  const auto in = Input({.shape = {2}, .name = "outer"});
  const Model nested({.inputs = in, .outputs = model_from_json(json.dump())(in)});
  EXPECT_EQ(nested.layers()[1]->name(), "potter");
  EXPECT_EQ(Json::parse(nested.to_json()).at("config").at("layers")[1].at("config").at("scale"),
            Json(3.5));
}

// In Python, an object of the class may have layers that are not in its graph.
TEST_F(Subclasses, WeightsOfMembersOfModelsAreLostWithAWarning) {
  model_from_json(functional_of("Baker", "baker").dump()).save(at("model.keras"));
  KerasFileEditor editor(at("model.keras"));
  editor.add_object("oven", {{"0", Tensor({1.F, 2.F})}});
  editor.save(at("model.keras"));
  const testing::Warnings warnings;
  load_model(at("model.keras"));
  ASSERT_EQ(warnings.messages.size(), 2U);
  EXPECT_NE(warnings.messages[1].find("weights of 'oven', a member of class 'Baker'"),
            std::string::npos)
      << warnings.messages[1];
}

TEST_F(Subclasses, ThatAreRegisteredOpenWithoutAWarning) {
  const Json json = functional_of("Sculptor", "sculptor");
  const testing::Warnings warnings;
  const Model model = model_from_json(
      json.dump(), {.custom_objects = {{"studio>Sculptor", FunctionalLayer::from_config}}});
  EXPECT_EQ(warnings.messages, std::vector<std::string>{});
  EXPECT_EQ(Json::parse(model.to_json()).at("registered_name"), Json("studio>Sculptor"));
}

TEST_F(Subclasses, OfSequentialOpen) {
  Json json = serialize_layer(*Sequential({Dense({.units = 2}, "dense")}, "row").layer());
  json["config"]["build_input_shape"] = Json::parse("[null, 3]");
  json["class_name"] = "Row";
  json["module"] = "studio.models";
  const testing::Warnings warnings;
  const LayerPtr model = layer_from_json(json);
  EXPECT_EQ(model->class_name(), "Sequential");
  EXPECT_EQ(warnings.messages.size(), 1U);
  EXPECT_EQ(serialize_layer(*model).at("class_name"), Json("Row"));
}

// Other classes of the user's stay an error.
TEST_F(Subclasses, OfOtherClassesAreRefused) {
  for (const char* config : {R"({"name": "x", "layers": []})", R"({"name": "x", "layers": 3})",
                             R"({"input_layers": [], "output_layers": []})", "[]", "null"})
    expect_user_error(
        [&] {
          layer_from_json(Json::Object{
              {"class_name", "Unknown"}, {"module", "studio"}, {"config", Json::parse(config)}});
        },
        "Could not find the class 'Unknown' of module 'studio'");
}

}  // namespace
}  // namespace keratin

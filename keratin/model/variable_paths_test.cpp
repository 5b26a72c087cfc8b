// The paths of variables, which `get_state_tree` has, are those of Keras in a new session.
#include <gtest/gtest.h>

#include <algorithm>

#include "keratin/base/warning.h"
#include "keratin/graph/layer.h"
#include "keratin/layers/registry.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/layer_models.h"
#include "keratin/testing/zoo.h"

namespace keratin {
namespace {

const Json& recorded_paths() {
  static const Json all = testing::read_golden("variable_paths.json");
  return all;
}

std::vector<std::string> sorted_paths(const Layer& layer) {
  std::vector<std::string> paths;
  for (const Variable& variable : layer.variables()) paths.push_back(variable.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> strings_in(const Json& json) {
  std::vector<std::string> out;
  for (const Json& item : json.as_array()) out.push_back(item.as_string());
  return out;
}

class VariablePaths : public ::testing::Test {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

 private:
  WarningHandler handler_;
};

TEST_F(VariablePaths, OfLayersAreThoseOfKeras) {
  for (const auto& [class_name, cases] : recorded_paths().at("layers").as_object())
    for (const testing::LayerCase& layer_case : testing::layer_cases(class_name)) {
      SCOPED_TRACE(class_name + ", " + layer_case.name);
      const Json* paths = cases.find(layer_case.name);
      ASSERT_NE(paths, nullptr) << "not recorded";
      clear_session();
      const LayerPtr layer = layer_from_json(layer_case.config, testing::custom_layers(layer_case));
      testing::adapt_as_recorded(layer_case.record, *layer);
      testing::build_for(*layer, layer_case.arguments);
      EXPECT_EQ(sorted_paths(*layer), strings_in(*paths));
    }
}

TEST_F(VariablePaths, OfModelsAreThoseOfKeras) {
  for (const auto& [name, paths] : recorded_paths().at("models").as_object()) {
    // Read from a config, its inner Sequential is built before the outer one, in Keras too.
    if (name == "sequential_nested") continue;
    SCOPED_TRACE(name);
    clear_session();
    const testing::ZooModel zoo = testing::load_zoo_model(name);
    zoo.model.predict(zoo.inputs);  // layers that are activations are built by a call
    EXPECT_EQ(sorted_paths(*zoo.model.layer()), strings_in(paths));
  }
}

}  // namespace
}  // namespace keratin

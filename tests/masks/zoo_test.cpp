// Compares every recorded model of both generations of Keras: numbers, masks, order of layers,
// summary and configs.
#include <gtest/gtest.h>

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/topology.h"
#include "keratin/layers/registry.h"
#include "keratin/model/clone.h"
#include "keratin/model/summary.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/golden_layers.h"
#include "keratin/testing/zoo.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::golden_structure;
using testing::golden_tensor;
using testing::load_zoo_model;
using testing::ZooModel;

class Zoo : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

 private:
  WarningHandler handler_;
};
class Keras3Zoo : public Zoo {};

TEST_P(Zoo, GivesKerassOutputsAndMasks) {
  const ZooModel zoo = load_zoo_model(GetParam());
  const RunResult result = zoo.model.run(zoo.inputs);
  const Tree<Tensor> expected = golden_structure(zoo.record.at("outputs"));
  EXPECT_EQ(result.outputs.leaf_count(), expected.leaf_count());
  EXPECT_TRUE(zoo.keras2 || result.outputs.outline() == expected.outline());
  const bool halves = zoo.record.at("config").dump().find("mixed_") != std::string::npos;
  const auto got = result.outputs.flat(), wanted = expected.flat();
  ASSERT_EQ(got.size(), wanted.size());
  // A single mask for two outputs: in Keras 2.2.5 both get it, in tf_keras only the first.
  const bool second_differs = GetParam() == "fork_masked.keras2";
  EXPECT_TRUE(!second_differs || !(got[1] == wanted[1])) << "expected a mask of the second output";
  for (size_t i = 0; i < (second_differs ? 1 : got.size()); ++i)
    expect_close(got[i], wanted[i], halves ? 1e-2 : 1e-5, text("output ", i));
  const Json& masks = zoo.record.at("output_masks");
  for (size_t i = 0; i < masks.size(); ++i) {
    ASSERT_EQ(result.masks[i].has_value(), !masks[i].is_null()) << "mask of output " << i;
    if (result.masks[i]) expect_close(*result.masks[i], golden_tensor(masks[i]), 0, "mask");
  }
}

TEST_P(Zoo, OrdersLayersAndWeightsAsKerasDoes) {
  const ZooModel zoo = load_zoo_model(GetParam());
  std::vector<std::string> names, wanted;
  for (const LayerPtr& layer : zoo.model.layers()) names.push_back(layer->name());
  for (const Json& name : zoo.record.at("layers").as_array()) wanted.push_back(name.as_string());
  EXPECT_EQ(names, wanted);
  // A reloaded nested Sequential builds itself before it has an outer name.
  const std::string outer = GetParam() == "sequential_nested" ? "outer/" : "";
  const std::vector<Variable> weights = zoo.model.weights();
  const Json& recorded = zoo.record.at("weights");
  ASSERT_EQ(weights.size(), recorded.size());
  for (size_t i = 0; i < weights.size() && !zoo.keras2; ++i) {
    const std::string wanted_path = recorded[i].at("path").as_string();
    EXPECT_TRUE(weights[i].path() == wanted_path || outer + weights[i].path() == wanted_path)
        << weights[i].path() << " is not " << wanted_path;
  }
  const Json* depths = zoo.record.find("nodes_by_depth");
  if (depths == nullptr || depths->is_null() || zoo.model.functional() == nullptr) return;
  // The layers by depth; Keras also numbers calls outside of the model.
  const Topology& topology = zoo.model.functional()->topology();
  std::vector<std::vector<std::string>> ours, theirs;
  for (size_t i = 0; i < topology.nodes.size(); ++i) {
    if (i == 0 || topology.depths[i] != topology.depths[i - 1]) ours.emplace_back();
    ours.back().push_back(topology.nodes[i]->layer()->name());
  }
  for (const Json& depth : depths->as_array()) {
    theirs.emplace_back();
    for (const Json& node : depth.as_array()) theirs.back().push_back(node[0].as_string());
  }
  EXPECT_EQ(ours, theirs);
}

TEST_P(Keras3Zoo, SummarisesAsKerasDoes) {
  const ZooModel zoo = load_zoo_model(GetParam());
  const auto trimmed = [](std::string text) {
    return text.substr(0, text.find_last_not_of('\n') + 1);
  };
  EXPECT_EQ(trimmed(summary_text(zoo.model)), trimmed(zoo.record.at("summary").as_string()));
  EXPECT_EQ(trimmed(summary_text(zoo.model, {.expand_nested = true, .show_trainable = true})),
            trimmed(zoo.record.at("summary_expanded").as_string()));
}

TEST_P(Zoo, CanBeMadeFromItsConfig) {
  const ZooModel zoo = load_zoo_model(GetParam());
  const Json config = Json::parse(zoo.model.to_json());
  const Model copy(layer_from_json(config, testing::golden_layers(zoo.record.at("lambdas")),
                                   zoo.model.dialect()));
  EXPECT_EQ(Json::parse(copy.to_json()).dump(1), config.dump(1));
  copy.layer()->set_weights(zoo.model.get_weights());
  testing::expect_same_result(copy.run(zoo.inputs), zoo.model.run(zoo.inputs), "reloaded");
}

std::vector<std::string> keras3_names() {
  std::vector<std::string> names = testing::zoo_names();
  std::erase_if(names, [](const std::string& name) { return name.ends_with(".keras2"); });
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, Zoo, ::testing::ValuesIn(testing::zoo_names()), test_name);
// Keras 2's table has another layout.
INSTANTIATE_TEST_SUITE_P(Golden, Keras3Zoo, ::testing::ValuesIn(keras3_names()), test_name);

}  // namespace
}  // namespace keratin

// Every model that real Keras recorded, from both generations: the same numbers, masks, order of
// layers, summary and configs.
#include <gtest/gtest.h>

#include "keratin/base/warning.h"
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

// Keras 2.2.5 refuses to lose a mask; tf_keras, which made the files, drops it without a word.
bool refuses_masks(const std::string& name) {
  return name == "lambda_loses_mask.keras2" || name == "lambda_two_outputs_masked.keras2" ||
         name == "lambda_returns_its_input_masked.keras2" || name == "mask_destroyed.keras2";
}

TEST_P(Zoo, GivesKerassNumbersAndMasks) {
  if (refuses_masks(GetParam())) {
    const ZooModel zoo = load_zoo_model(GetParam());
    testing::expect_user_error([&] { zoo.model.run(zoo.inputs); }, "does not support masking");
    return;
  }
  // One mask for two outputs: both get it in Keras 2.2.5, the first one in tf_keras.
  if (GetParam() == "fork_masked.keras2") GTEST_SKIP() << "tf_keras differs from Keras 2";
  const ZooModel zoo = load_zoo_model(GetParam());
  const RunResult result = zoo.model.run(zoo.inputs);
  const Tree<Tensor> expected = golden_structure(zoo.record.at("outputs"));
  EXPECT_EQ(result.outputs.leaf_count(), expected.leaf_count());
  EXPECT_TRUE(zoo.keras2 || result.outputs.outline() == expected.outline());
  const bool halves = zoo.record.at("config").dump().find("mixed_") != std::string::npos;
  const auto got = result.outputs.flat(), wanted = expected.flat();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    expect_close(got[i], wanted[i], halves ? 1e-2 : 1e-5, text("output ", i));
  const Json& masks = zoo.record.at("output_masks");
  for (size_t i = 0; i < masks.size(); ++i) {
    ASSERT_EQ(result.masks[i].has_value(), !masks[i].is_null()) << "mask of output " << i;
    if (result.masks[i]) expect_close(*result.masks[i], golden_tensor(masks[i]), 0, "mask");
  }
}

TEST_P(Zoo, OrdersLayersAndWeightsAsKeras) {
  const ZooModel zoo = load_zoo_model(GetParam());
  std::vector<std::string> names, wanted;
  for (const LayerPtr& layer : zoo.model.layers()) names.push_back(layer->name());
  for (const Json& name : zoo.record.at("layers").as_array()) wanted.push_back(name.as_string());
  EXPECT_EQ(names, wanted);
  const Json* depths = zoo.record.find("nodes_by_depth");
  if (depths == nullptr || depths->is_null() || zoo.model.functional() == nullptr) return;
  // Which layer is called at which depth; Keras numbers calls outside the model too.
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

TEST_P(Zoo, SummarisesAsKeras) {
  if (GetParam().ends_with(".keras2")) GTEST_SKIP() << "Keras 2 draws another table";
  const ZooModel zoo = load_zoo_model(GetParam());
  const auto trimmed = [](std::string text) {
    return text.substr(0, text.find_last_not_of('\n') + 1);
  };
  EXPECT_EQ(trimmed(summary_text(zoo.model)), trimmed(zoo.record.at("summary").as_string()));
  EXPECT_EQ(trimmed(summary_text(zoo.model, {.expand_nested = true, .show_trainable = true})),
            trimmed(zoo.record.at("summary_expanded").as_string()));
}

TEST_P(Zoo, ComesBackFromItsOwnConfig) {
  // Keras 3's layout, which we write, cannot say that an argument was None or False on purpose.
  const bool explicit_nothing =
      GetParam().starts_with("mask_none.") || GetParam().starts_with("training_flag");
  if (refuses_masks(GetParam()) || (GetParam().ends_with(".keras2") && explicit_nothing))
    GTEST_SKIP();
  const ZooModel zoo = load_zoo_model(GetParam());
  const Json config = Json::parse(zoo.model.to_json());
  const LayerPtr layer = layer_from_json(config, testing::golden_layers(zoo.record.at("lambdas")));
  dynamic_cast<ModelLayer&>(*layer).set_dialect(zoo.model.dialect());
  const Model copy(layer);
  EXPECT_EQ(Json::parse(copy.to_json()).dump(1), config.dump(1));
  copy.layer()->set_weights(zoo.model.get_weights());
  testing::expect_same_result(copy.run(zoo.inputs), zoo.model.run(zoo.inputs), "reloaded");
}

INSTANTIATE_TEST_SUITE_P(Golden, Zoo, ::testing::ValuesIn(testing::zoo_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace keratin

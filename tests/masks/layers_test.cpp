// The masks of every class of layers, as a model of each of its cases: those that Keras recorded,
// known before the model runs; and a model that is made from the config of another gives the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "keratin/base/warning.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/layer_models.h"
#include "keratin/testing/zoo.h"

namespace keratin {
namespace {

using testing::LayerCase;
using testing::LayerModel;

class MasksOfLayers : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

  // Runs a check on each case of the class.
  template <class Check>
  void on_cases(const Check& check) const {
    for (const LayerCase& layer_case : testing::layer_cases(std::string(GetParam()))) {
      SCOPED_TRACE(layer_case.name);
      if (testing::find_left_out(testing::not_in_models(), layer_case) != nullptr) continue;
      try {
        check(layer_case);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }

 private:
  WarningHandler handler_;
};

TEST_P(MasksOfLayers, AreKerass) {
  on_cases([](const LayerCase& layer_case) {
    const Json* wanted =
        layer_case.record.is_null() ? nullptr : layer_case.record.find("output_masks");
    if (wanted == nullptr) return;
    const LayerModel made = testing::layer_model(layer_case);
    const auto outputs = made.model.outputs();
    const RunResult result = made.model.run(made.inputs);
    ASSERT_EQ(result.masks.size(), wanted->size());
    for (size_t i = 0; i < wanted->size(); ++i) {
      EXPECT_EQ(outputs[i].has_mask(), result.masks[i].has_value()) << "known mask " << i;
      ASSERT_EQ(result.masks[i].has_value(), !(*wanted)[i].is_null()) << "mask " << i;
      if (!result.masks[i]) continue;
      EXPECT_EQ(*result.masks[i], testing::golden_tensor((*wanted)[i])) << "mask " << i;
    }
  });
}

TEST_P(MasksOfLayers, AreTheSameFromAConfig) {
  on_cases([](const LayerCase& layer_case) {
    // A vocabulary that was learned is not in the config.
    if (!layer_case.record.is_null() && layer_case.record.contains("adapt")) return;
    const LayerModel made = testing::layer_model(layer_case);
    const Json config = Json::parse(made.model.to_json());
    const Model copy(layer_from_json(config, testing::custom_layers(layer_case)));
    copy.layer()->set_weights(made.model.get_weights());
    // Augmentations are called with training = true by default, and a config does not tell this
    // from a flag that was given.
    const auto layers = made.model.layers();
    const bool training = std::any_of(layers.begin(), layers.end(), [](const LayerPtr& layer) {
      return dynamic_cast<const TrainsByDefault*>(layer.get()) != nullptr;
    });
    const PredictOptions options{.training = training};
    testing::expect_same_result(copy.run(made.inputs, options),
                                made.model.run(made.inputs, options), "from config");
  });
}

INSTANTIATE_TEST_SUITE_P(All, MasksOfLayers, ::testing::ValuesIn(layer_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace keratin

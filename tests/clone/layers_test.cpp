// Clones every class of layers, as a model of each of its cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "keratin/base/warning.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/layer_models.h"
#include "tests/clone/clone_testing.h"

namespace keratin {
namespace {

using testing::LayerCase;

class CloneLayers : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

 private:
  WarningHandler handler_;
};

TEST_P(CloneLayers, AgreeWithTheirSource) {
  const auto cases = testing::layer_cases(std::string(GetParam()));
  EXPECT_EQ(cases.empty(), testing::uncalled_layers().contains(std::string(GetParam())));
  for (const LayerCase& layer_case : cases) {
    SCOPED_TRACE(layer_case.name);
    if (const auto* out = testing::find_left_out(testing::not_in_models(), layer_case)) {
      EXPECT_THROW(testing::layer_model(layer_case), UserError) << "left out: " << out->reason;
      continue;
    }
    try {
      const testing::LayerModel made = testing::layer_model(layer_case);
      testing::expect_clones_agree(made.model, made.inputs);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// The list of classes without golden calls is up to date.
TEST(LayerCases, AreGoldenWhereKerasHasTheClass) {
  const auto names = layer_names();
  for (const auto& [name, reason] : testing::uncalled_layers()) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name << " is no layer";
    if (!std::filesystem::exists(testing::golden_path("layers/" + name + ".json"))) continue;
    const Json tests = testing::read_golden("layers/" + name + ".json");
    for (const Json& test : tests.as_array())
      EXPECT_FALSE(test.contains("outputs")) << name << " has golden calls, though it " << reason;
  }
  for (const std::string_view name : names)
    for (const LayerCase& layer_case : testing::layer_cases(std::string(name)))
      EXPECT_EQ(
          layer_case.record.is_null(),
          !std::filesystem::exists(testing::golden_path("layers/" + std::string(name) + ".json")))
          << name << " needs no example of its own";
}

INSTANTIATE_TEST_SUITE_P(All, CloneLayers, ::testing::ValuesIn(layer_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace keratin

// Clones every recorded model: the clone has new weights, gives the same outputs after copying
// weights, and the source does not change.
#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/model/clone.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/zoo.h"

namespace keratin {
namespace {

using testing::load_zoo_model;
using testing::ZooModel;

class CloneZoo : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

 private:
  WarningHandler handler_;
};

std::vector<size_t> call_counts(const Model& model) {
  std::vector<size_t> counts;
  for (const LayerPtr& layer : model.layers()) counts.push_back(layer->call_count());
  return counts;
}

TEST_P(CloneZoo, AgreesWithItsSourceWithoutChangingIt) {
  const ZooModel zoo = load_zoo_model(GetParam());
  const std::string config = zoo.model.to_json();
  const std::vector<size_t> calls = call_counts(zoo.model);
  const RunResult before = zoo.model.run(zoo.inputs);

  for (int round = 0; round < 2; ++round) {
    const Model copy = clone_model(zoo.model);
    if (!copy.layer()->built()) copy.layer()->ensure_built(zoo.model.layer()->built_with());
    EXPECT_EQ(copy.name(), zoo.model.name());
    const auto ours = copy.weights(), theirs = zoo.model.weights();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_FALSE(ours[i] == theirs[i]) << "shared: " << ours[i].path();
    std::vector<std::string> names, wanted;
    for (const LayerPtr& layer : copy.layers()) names.push_back(layer->name());
    for (const LayerPtr& layer : zoo.model.layers()) wanted.push_back(layer->name());
    EXPECT_EQ(names, wanted);
    copy.layer()->set_weights(zoo.model.get_weights());
    testing::expect_same_result(copy.run(zoo.inputs), before, "clone");
  }
  const Model copied = clone_model(zoo.model, {.copy_weights = true, .name = "another"});
  EXPECT_EQ(copied.name(), "another");
  testing::expect_same_result(copied.run(zoo.inputs), before, "clone with weights");

  EXPECT_EQ(zoo.model.to_json(), config) << "the source's config changed";
  EXPECT_EQ(call_counts(zoo.model), calls) << "the source's calls changed";
  testing::expect_same_result(zoo.model.run(zoo.inputs), before, "source, after");
}

INSTANTIATE_TEST_SUITE_P(Golden, CloneZoo, ::testing::ValuesIn(testing::zoo_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace keratin

#include "tests/clone/clone_testing.h"

#include <gtest/gtest.h>

#include "keratin/model/clone.h"
#include "keratin/testing/layer_models.h"
#include "keratin/testing/zoo.h"

namespace keratin::testing {
namespace {

std::vector<size_t> call_counts(const Model& model) {
  std::vector<size_t> counts;
  for (const LayerPtr& layer : model.layers()) counts.push_back(layer->call_count());
  return counts;
}

// Calls of a layer that is called twice may be in another order.
void expect_same_layers(const Model& copy, const Model& model) {
  const auto ours = copy.layers(), theirs = model.layers();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i]->name(), theirs[i]->name());
    EXPECT_EQ(ours[i]->class_name(), theirs[i]->class_name());
    EXPECT_EQ(ours[i]->get_config(), theirs[i]->get_config()) << ours[i]->name();
  }
}

void expect_own_weights(const Model& copy, const Model& model) {
  const auto ours = copy.weights(), theirs = model.weights();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_FALSE(ours[i] == theirs[i]) << "shared: " << ours[i].path();
    EXPECT_EQ(ours[i].path(), theirs[i].path());
    EXPECT_EQ(ours[i].trainable(), theirs[i].trainable()) << ours[i].path();
  }
}

}  // namespace

void expect_clones_agree(const Model& model, const Tree<Tensor>& inputs) {
  const std::string config = model.to_json();
  const std::vector<size_t> calls = call_counts(model);
  const SavedState state(model);
  const std::vector<Tensor> weights = model.get_weights();
  const RunResult before = model.run(inputs);
  for (int round = 0; round < 2; ++round) {
    const Model copy = clone_model(model);
    if (!copy.layer()->built()) copy.layer()->ensure_built(model.layer()->built_with());
    EXPECT_EQ(copy.name(), model.name());
    expect_same_layers(copy, model);
    expect_own_weights(copy, model);
    copy.layer()->set_weights(weights);
    expect_same_result(copy.run(inputs), before, "clone");
  }
  state.restore();
  const Model copied = clone_model(model, {.copy_weights = true, .name = "another"});
  EXPECT_EQ(copied.name(), "another");
  expect_same_result(copied.run(inputs), before, "clone with weights");

  EXPECT_EQ(model.to_json(), config) << "the source's config changed";
  EXPECT_EQ(call_counts(model), calls) << "the source's calls changed";
  expect_same_result(model.run(inputs), before, "source, after");
}

}  // namespace keratin::testing

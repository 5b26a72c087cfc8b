// Proves that the zoo of models detects cloners with known mistakes.
#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/model/clone.h"
#include "keratin/testing/zoo.h"
#include "tests/mutants/old_cloner_testing.h"

namespace keratin {
namespace {

using Cloner = std::function<Model(const Model&)>;

// The first fault of a clone; "" if there is none.
std::string fault(const testing::ZooModel& zoo, const Cloner& cloner) {
  try {
    const std::string config = zoo.model.to_json();
    const RunResult before = zoo.model.run(zoo.inputs);
    const Model copy = cloner(zoo.model);
    const auto ours = copy.weights(), theirs = zoo.model.weights();
    if (ours.size() != theirs.size()) return "another number of weights";
    for (size_t i = 0; i < ours.size(); ++i)
      if (ours[i] == theirs[i]) return "shared weights";
    if (zoo.model.to_json() != config) return "the source changed";
    copy.layer()->set_weights(zoo.model.get_weights());
    const RunResult after = copy.run(zoo.inputs);
    const auto a = before.outputs.flat(), b = after.outputs.flat();
    if (a.size() != b.size()) return "another number of outputs";
    for (size_t i = 0; i < a.size(); ++i)
      if (!(a[i] == b[i])) return "other numbers";
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

class Mutants : public ::testing::Test {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

  static testing::ZooModel zoo(const std::string& name) {
    return testing::load_zoo_model(name + ".keras2");
  }
  static Cloner with(const Mistakes& mistakes) {
    return [mistakes](const Model& model) { return clone_with_mistakes(model, mistakes); };
  }

 private:
  WarningHandler handler_;
};

TEST_F(Mutants, FindNoFaultInTheRealCloner) {
  for (const std::string& name : testing::zoo_names()) {
    const testing::ZooModel model = testing::load_zoo_model(name);
    if (model.model.functional() == nullptr) continue;
    EXPECT_EQ(fault(model, [](const Model& m) { return clone_model(m); }), "") << name;
  }
}

// Patch 000: input layers are replaced by tensors, which are then called.
TEST_F(Mutants, PatchThatCallsTensorsIsCaught) {
  const Cloner cloner =
      with({.input_layers_become_tensors = true, .masks = Mistakes::Masks::only_if_supported});
  for (const char* name : {"dense_chain", "issue", "upstream_swap"})
    EXPECT_EQ(fault(zoo(name), cloner), "'Tensor' object is not callable") << name;
}

// Patch 001: no batch axis, outputs before inputs.
TEST_F(Mutants, PatchThatRunsBackwardsIsCaught) {
  const Mistakes both{
      .inputs_lose_the_batch = true, .shallow_first = true, .missing_inputs_are_errors = true};
  for (const char* name : {"dense_chain", "issue", "upstream_swap"})
    EXPECT_NE(fault(zoo(name), with(both)).find("KeyError"), std::string::npos) << name;
  const Mistakes batch{.inputs_lose_the_batch = true};
  EXPECT_NE(fault(zoo("dense_chain"), with(batch)), "");
}

// Patch 002: the original layers are called, single inputs are wrapped, masks are overwritten.
TEST_F(Mutants, PatchThatSharesWeightsIsCaught) {
  EXPECT_EQ(fault(zoo("dense_chain"), with({.calls_the_original_layer = true})), "shared weights");
  EXPECT_NE(fault(zoo("dense_chain"), with({.wraps_single_inputs_in_lists = true})), "");
  EXPECT_EQ(fault(zoo("nested_mask_consumer"), with({.masks = Mistakes::Masks::none})),
            "other numbers");
  const Mistakes all{.calls_the_original_layer = true,
                     .wraps_single_inputs_in_lists = true,
                     .masks = Mistakes::Masks::none};
  EXPECT_NE(fault(zoo("issue"), with(all)), "");
}

// Patch 003: a loop over the keys of the nodes by depth.
TEST_F(Mutants, PatchThatIteratesOverIntegersIsCaught) {
  EXPECT_EQ(fault(zoo("dense_chain"), with({.iterates_over_depths_not_nodes = true})),
            "'int' object has no attribute 'outbound_layer'");
}

// Patch 004: a loop's else that always runs.
TEST_F(Mutants, PatchThatAlwaysFailsIsCaught) {
  for (const char* name : {"dense_chain", "issue"})
    EXPECT_NE(
        fault(zoo(name), with({.always_fails_at_the_end = true})).find("Could not compute output"),
        std::string::npos)
        << name;
}

// Keras 2.2.4: zip stops at the shorter list.
TEST_F(Mutants, TruncatingZipIsCaught) {
  const Cloner cloner = with({.masks = Mistakes::Masks::truncate});
  EXPECT_EQ(fault(zoo("dense_chain"), cloner), "") << "expected no fault in a chain";
  for (const char* name : {"issue", "upstream_swap", "two_in_two_out", "fork"})
    EXPECT_NE(fault(zoo(name), cloner).find("Could not compute output"), std::string::npos) << name;
  EXPECT_EQ(fault(zoo("first_output_only"), cloner), "") << "expected no fault with one output";
}

// Keras 2.2.5: masks of layers without supports_masking are dropped.
TEST_F(Mutants, DroppedMaskIsCaught) {
  const Cloner cloner = with({.masks = Mistakes::Masks::only_if_supported});
  for (const char* name : {"dense_chain", "issue", "upstream_swap"})
    EXPECT_EQ(fault(zoo(name), cloner), "") << name;
  for (const char* name : {"nested_mask_emitter", "mask_maker"})
    EXPECT_EQ(fault(zoo(name), cloner), "other numbers") << name;
}

}  // namespace
}  // namespace keratin

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "keratin/distribute/data_parallel.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/program.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"

namespace keratin::distribute {
namespace {

using keratin::testing::expect_user_error;
using keratin::testing::waves;

Model dense() {
  const auto x = Input({6});
  return Model({.inputs = x, .outputs = Dense({.units = 3})(x)});
}

bool is_distributed(const Model& model) {
  const std::string plan = model.program(waves({4, 6}))->executable().describe();
  return plan.find("cpu:1") != std::string::npos;
}

class DistributionThreads : public ::testing::Test {
 protected:
  DistributionThreads() { set_logical_devices("cpu", 2); }
  ~DistributionThreads() override {
    set_distribution(nullptr);
    set_logical_devices("cpu", 1);
  }
  static DataParallel two() { return DataParallel({.devices = {"cpu:0", "cpu:1"}}); }
};

TEST_F(DistributionThreads, AScopeIsOfItsOwnThread) {
  const auto scope = two().scope();
  std::thread([] {
    EXPECT_EQ(distribution(), nullptr);
    EXPECT_FALSE(is_distributed(dense()));
  }).join();
  EXPECT_TRUE(is_distributed(dense()));
}

TEST_F(DistributionThreads, AnotherThreadsScopeChangesNothingWhenItEnds) {
  std::optional<DistributionScope> scope(std::in_place, two().shared());
  std::thread([&] {
    { const auto own = DataParallel({.devices = {"cpu:0"}}).scope(); }
    EXPECT_EQ(distribution(), nullptr);
  }).join();
  EXPECT_NE(distribution(), nullptr);
  scope.reset();
  EXPECT_EQ(distribution(), nullptr);
}

TEST_F(DistributionThreads, TheDistributionOfTheProcessIsOfAllThreads) {
  set_distribution(two());
  std::thread([] { EXPECT_TRUE(is_distributed(dense())); }).join();
}

TEST_F(DistributionThreads, AScopeMayHideTheDistributionOfTheProcess) {
  set_distribution(two());
  const DistributionScope none(nullptr);
  EXPECT_EQ(distribution(), nullptr);
  EXPECT_FALSE(is_distributed(dense()));
}

TEST_F(DistributionThreads, RefusesSetDistributionInAScope) {
  const auto scope = two().scope();
  expect_user_error([] { set_distribution(nullptr); }, "in a DistributionScope");
}

TEST_F(DistributionThreads, AModelKeepsTheDistributionItWasMadeWith) {
  std::optional<Model> model;
  {
    const auto scope = two().scope();
    model = dense();
  }
  EXPECT_TRUE(is_distributed(*model));
}

// The layer that runs the replicas is made once, so its programs are found again.
TEST_F(DistributionThreads, ADistributedModelCompilesOncePerShape) {
  set_distribution(two());
  const Model model = dense();
  for (int i = 0; i < 3; ++i) model.predict(waves({4, 6}));
  EXPECT_EQ(model.program_cache().misses, 1U);
  EXPECT_EQ(model.program_cache().hits, 2U);
}

}  // namespace
}  // namespace keratin::distribute

// Clones every recorded model: the clone has new weights, gives the same outputs after copying
// weights, and the source does not change.
#include <algorithm>

#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/testing/zoo.h"
#include "tests/clone/clone_testing.h"

namespace keratin {
namespace {

class CloneZoo : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

 private:
  WarningHandler handler_;
};

TEST_P(CloneZoo, AgreesWithItsSourceWithoutChangingIt) {
  const testing::ZooModel zoo = testing::load_zoo_model(GetParam());
  testing::expect_clones_agree(zoo.model, zoo.inputs);
}

INSTANTIATE_TEST_SUITE_P(Golden, CloneZoo, ::testing::ValuesIn(testing::zoo_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace keratin

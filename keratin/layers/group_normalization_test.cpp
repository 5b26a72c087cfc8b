#include "keratin/layers/normalizations.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(GroupNormalization, MakesAGroupOfEachChannel) {
  const auto norm = GroupNormalization({.groups = -1});
  norm(Input({3, 6}));
  EXPECT_EQ(norm->get_config().at("groups"), Json(6));
}

TEST(GroupNormalization, RefusesGroupsThatDoNotFit) {
  expect_user_error([] { GroupNormalization({.groups = 0}); }, {"groups", "0"});
  expect_user_error([] { GroupNormalization({.groups = 4})(Input({3})); },
                    {"(4)", "cannot be more", "(3)"});
  expect_user_error([] { GroupNormalization({.groups = 2})(Input({3})); },
                    {"(2)", "multiple", "(3)"});
  expect_user_error([] { GroupNormalization({.groups = 2})(Input({unknown})); },
                    {"defined dimension", "(None, None)"});
}

}  // namespace
}  // namespace keratin

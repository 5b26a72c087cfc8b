#include "keratin/base/version.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace keratin {
namespace {

TEST(Version, HasThreeParts) { EXPECT_EQ(std::ranges::count(version(), '.'), 2); }

}  // namespace
}  // namespace keratin

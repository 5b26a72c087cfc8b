#include "keratin/base/shared_value.h"

#include <gtest/gtest.h>

#include <string>

namespace keratin {
namespace {

TEST(SharedValue, CopiesAreTheSameObject) {
  const detail::SharedValue<std::string> a("a long enough text to live elsewhere"), b = a;
  EXPECT_EQ(&*a, &*b);
  EXPECT_EQ(b->size(), 36u);
}

TEST(SharedValue, MayBeAbsent) {
  EXPECT_FALSE(detail::SharedValue<int>());
  EXPECT_TRUE(detail::SharedValue<int>(0));
}

TEST(SharedValue, ComparesValues) {
  EXPECT_EQ(detail::SharedValue<int>(1), detail::SharedValue<int>(1));
  EXPECT_NE(detail::SharedValue<int>(1), detail::SharedValue<int>(2));
  EXPECT_NE(detail::SharedValue<int>(0), detail::SharedValue<int>());
  EXPECT_EQ(detail::SharedValue<int>(), detail::SharedValue<int>());
}

}  // namespace
}  // namespace keratin

#include "keratin/base/shared_value.h"

#include <gtest/gtest.h>

#include <string>

namespace keratin {
namespace {

TEST(SharedValue, CopiesAreTheSameObject) {
  const SharedValue<std::string> a("a long enough text to live elsewhere"), b = a;
  EXPECT_EQ(&*a, &*b);
  EXPECT_EQ(b->size(), 36u);
}

TEST(SharedValue, MayBeAbsent) {
  EXPECT_FALSE(SharedValue<int>());
  EXPECT_TRUE(SharedValue<int>(0));
}

TEST(SharedValue, ComparesValues) {
  EXPECT_EQ(SharedValue<int>(1), SharedValue<int>(1));
  EXPECT_NE(SharedValue<int>(1), SharedValue<int>(2));
  EXPECT_NE(SharedValue<int>(0), SharedValue<int>());
  EXPECT_EQ(SharedValue<int>(), SharedValue<int>());
}

}  // namespace
}  // namespace keratin

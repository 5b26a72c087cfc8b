#include "keratin/base/text.h"

#include <gtest/gtest.h>

namespace keratin {
namespace {

TEST(Error, TextJoinsWhatCanBePrinted) {
  EXPECT_EQ(text("a", 1, ' ', 2.5, std::string("b")), "a1 2.5b");
}

TEST(Error, RequireBlamesTheCallerAndEnsureUs) {
  EXPECT_NO_THROW(require(true, "never"));
  EXPECT_NO_THROW(ensure(true, "never"));
  EXPECT_THROW(require(false, "x"), UserError);
  EXPECT_THROW(ensure(false, "x"), InternalError);
  EXPECT_THROW(fail("x"), UserError);
  try {
    require(false, "op: expected ", 2, ", got ", 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "op: expected 2, got 3");
  }
}

TEST(Error, TheThreeClassesAreApart) {
  EXPECT_THROW(throw BackendError("x"), Error);
  EXPECT_FALSE((std::is_base_of_v<UserError, InternalError>));
  EXPECT_TRUE((std::is_base_of_v<std::runtime_error, Error>));
}

}  // namespace
}  // namespace keratin

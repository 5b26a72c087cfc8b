#include "keratin/base/warning.h"
#include "keratin/base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace keratin {
namespace {

class WarningTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ =
        set_warning_handler([this](const std::string& message) { messages.push_back(message); });
  }
  void TearDown() override { set_warning_handler(before_); }

  std::vector<std::string> messages;

 private:
  WarningHandler before_;
};
using Messages = std::vector<std::string>;

TEST_F(WarningTest, IsReportedImmediatelyWithoutAScope) {
  warn("one");
  warn("one");
  EXPECT_EQ(messages, (Messages{"one", "one"}));
}

TEST_F(WarningTest, OfOneKindIsReportedOnceWithACount) {
  {
    const WarningScope scope;
    for (int i = 0; i < 40; ++i) {
      const WarningScope inner;
      detail::warn_of_unknown_key(text("Dense 'd", i, "'"), "colour");
    }
    detail::warn_of_unknown_key("Conv2D 'c'", "size");
    detail::warn_of_unknown_key("Conv2D 'c'", "depth");
    detail::warn_of_unknown_key("LSTM 'l'", "depth");
    warn("the same");
    warn("the same");
    EXPECT_EQ(messages, Messages{});
  }
  EXPECT_EQ(messages,
            (Messages{"Dense 'd0': the config key 'colour' is not known and was ignored (40 times "
                      "in all; also Dense 'd1', Dense 'd2', ...)",
                      "Conv2D 'c': the config key 'size' is not known and was ignored",
                      "Conv2D 'c': the config key 'depth' is not known and was ignored (2 times "
                      "in all; also LSTM 'l')",
                      "the same (2 times)"}));
}

TEST_F(WarningTest, IsReportedDespiteAnError) {
  try {
    const WarningScope scope;
    warn("before");
    fail("the error");
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "the error");
  }
  EXPECT_EQ(messages, Messages{"before"});
}

TEST_F(WarningTest, OfVeryManyKindsIsCutOff) {
  {
    const WarningScope scope;
    for (int i = 0; i < 20'000; ++i) detail::warn_of_unknown_key("Dense 'd'", text('k', i));
  }
  ASSERT_EQ(messages.size(), 51U);
  EXPECT_EQ(messages.back(), "and 19950 more warnings");
}

TEST_F(WarningTest, AHandlerMayThrow) {
  set_warning_handler([](const std::string& message) { fail("handled: ", message); });
  try {
    const WarningScope scope;
    warn("one");
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "handled: one");
    return;
  }
  ADD_FAILURE() << "expected the handler's error";
}

}  // namespace
}  // namespace keratin

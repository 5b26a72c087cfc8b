#include "keratin/testing/check_pass.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"

namespace keratin::testing {

void check_pass(const std::function<Module(Module)>& pass, std::string_view before,
                std::string_view after) {
  const Module expected = ops::parse(after);
  Module actual = pass(ops::parse(before));
  EXPECT_NO_THROW(verify(actual));
  EXPECT_EQ(text(actual), text(expected));
  const std::string once = text(actual);
  EXPECT_EQ(text(pass(std::move(actual))), once) << "a second run changes the module again";
}

}  // namespace keratin::testing

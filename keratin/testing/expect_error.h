#pragma once

#include <gtest/gtest.h>

#include <string>

#include "keratin/base/text.h"

namespace keratin::testing {

// Runs f, which must throw a UserError whose message contains every one of the parts.
template <class F>
void expect_user_error(F&& f, std::initializer_list<std::string> parts) {
  try {
    f();
  } catch (const UserError& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "the message is: " << error.what() << "\nit lacks: " << part;
    return;
  }
  ADD_FAILURE() << "expected a UserError";
}

template <class F>
void expect_user_error(F&& f, const std::string& part) {
  expect_user_error(std::forward<F>(f), {part});
}

}  // namespace keratin::testing

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "keratin/base/text.h"

namespace keratin::testing {

// Runs f, which must throw a UserError whose message contains every fragment.
template <class F>
void expect_user_error(F&& f, std::initializer_list<std::string> fragments) {
  try {
    f();
  } catch (const UserError& error) {
    for (const std::string& fragment : fragments)
      EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos)
          << "the message is: " << error.what() << "\nit lacks: " << fragment;
    return;
  }
  ADD_FAILURE() << "expected a UserError";
}

template <class F>
void expect_user_error(F&& f, const std::string& fragment) {
  expect_user_error(std::forward<F>(f), {fragment});
}

}  // namespace keratin::testing

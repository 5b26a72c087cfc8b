#pragma once

#include <string>
#include <vector>

#include "keratin/base/warning.h"

namespace keratin::testing {

// All that is warned of while it lives; nobody else hears it.
struct Warnings {
  std::vector<std::string> said;
  const WarningHandler before =
      set_warning_handler([this](const std::string& message) { said.push_back(message); });
  Warnings() = default;
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  ~Warnings() { set_warning_handler(before); }
};

}  // namespace keratin::testing

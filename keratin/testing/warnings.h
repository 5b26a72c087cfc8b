#pragma once

#include <string>
#include <vector>

#include "keratin/base/warning.h"

namespace keratin::testing {

// Collects all warnings while it lives; the handler before it does not see them.
struct Warnings {
  std::vector<std::string> messages;
  const WarningHandler before =
      set_warning_handler([this](const std::string& message) { messages.push_back(message); });
  Warnings() = default;
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  ~Warnings() { set_warning_handler(before); }
};

}  // namespace keratin::testing

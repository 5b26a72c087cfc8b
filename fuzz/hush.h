#pragma once

#include <string>

#include "keratin/base/warning.h"

namespace keratin::fuzz {

// Disables warnings: a fuzzer would print many.
inline void hush() {
  static const bool once = (set_warning_handler([](const std::string&) {}), true);
  (void)once;
}

}  // namespace keratin::fuzz

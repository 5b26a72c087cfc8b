#pragma once

#include <functional>
#include <string>

#include "keratin/base/error.h"

#pragma GCC visibility push(default)

namespace keratin {

// What users should know though nothing failed. Goes to the handler of the program; the first one
// writes a line to standard error.
void warn(const std::string& message);

using WarningHandler = std::function<void(const std::string&)>;
// Replaces the handler and returns the one before.
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace keratin

#pragma GCC visibility pop

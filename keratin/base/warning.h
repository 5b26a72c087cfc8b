#pragma once

#include <functional>
#include <string>

#include "keratin/base/error.h"

#pragma GCC visibility push(default)

namespace keratin {

// What users should know though nothing failed. Goes to the handler of the program; the first one
// writes a line to standard error.
void warn(const std::string& message);
// A key of a config that its class does not know: files of a newer Keras have some.
void warn_of_unknown_key(std::string_view who, std::string_view key);

using WarningHandler = std::function<void(const std::string&)>;
// Replaces the handler and returns the one before.
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace keratin

#pragma GCC visibility pop

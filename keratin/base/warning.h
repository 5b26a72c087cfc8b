#pragma once

#include <functional>
#include <string>

#include "keratin/base/error.h"
#include "keratin/base/export.h"

namespace keratin {

// What users should know though nothing failed. Goes to the handler of the program; the first one
// writes a line to standard error.
KERATIN_API void warn(const std::string& message);
namespace detail {

// The message is `who` and then `what`: "Dense 'a'" and ": …". Warnings that differ in `who` alone
// are of one kind.
KERATIN_API void warn_about(const std::string& who, const std::string& what);
// A key of a config that its class does not know: files of a newer Keras have some.
KERATIN_API void warn_of_unknown_key(std::string_view who, std::string_view key);

}  // namespace detail

// While it lives, what this thread warns of is gathered. Its end says each kind once: the first in
// full, how many there were, and about whom else. Scopes nest; the outermost one says it.
class KERATIN_API WarningScope {
 public:
  WarningScope();
  ~WarningScope() noexcept(false);  // what the handler throws goes on, unless an error does already
  WarningScope(const WarningScope&) = delete;
  WarningScope& operator=(const WarningScope&) = delete;

 private:
  bool outermost_;
  int errors_;
};

using WarningHandler = std::function<void(const std::string&)>;
// Replaces the handler and returns the one before.
KERATIN_API WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace keratin

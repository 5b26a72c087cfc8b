#include "keratin/base/warning.h"

#include <iostream>
#include <mutex>
#include <utility>

namespace keratin {
namespace {

std::mutex handler_lock;

WarningHandler& current_handler() {
  static WarningHandler handler = [](const std::string& message) {
    std::cerr << "warning: " << message << '\n';
  };
  return handler;
}

}  // namespace

void warn(const std::string& message) {
  WarningHandler handler;
  {
    const std::lock_guard guard(handler_lock);
    handler = current_handler();
  }
  if (handler) handler(message);
}

void warn_of_unknown_key(std::string_view who, std::string_view key) {
  warn(text(who, ": the config key '", key, "' is not known and was ignored"));
}

WarningHandler set_warning_handler(WarningHandler handler) {
  const std::lock_guard guard(handler_lock);
  return std::exchange(current_handler(), std::move(handler));
}

}  // namespace keratin

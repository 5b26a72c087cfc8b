#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include "keratin/base/export.h"

namespace keratin {
// Every failure is one of three: the caller's (bad argument, shape or file), a device's or a
// library's, or ours. A message says who complains, what was expected and what came.
class KERATIN_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class KERATIN_API UserError final : public Error {
 public:
  using Error::Error;
};
class KERATIN_API BackendError final : public Error {
 public:
  using Error::Error;
};
class KERATIN_API InternalError final : public Error {
 public:
  using Error::Error;
};

namespace detail {

// Everything printable, one after the other: text("Dense: got ", shape).
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw UserError(text(parts...));
}

// The caller must have done this; the parts say what was expected and what came. They are evaluated
// in any case: they name things that exist already, and never throw.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw UserError(text(parts...));
}

// We must have done this; when it fails, Keratin has a bug.
template <class... Parts>
void ensure(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw InternalError(text(parts...));
}

}  // namespace detail

}  // namespace keratin

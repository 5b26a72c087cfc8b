#pragma once

#include <sstream>
#include <string>

#include "keratin/keratin.h"

namespace keratin::cli {

// Everything printable, one after the other.
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

template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

// A size for each axis, null where it is unknown.
inline Json shape_json(const Shape& shape) {
  Json sizes = Json::array();
  for (const int64_t size : shape.dims()) sizes.push_back(size == unknown ? Json() : Json(size));
  return sizes;
}

}  // namespace keratin::cli

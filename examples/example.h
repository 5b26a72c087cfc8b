// What the examples share beside Keratin.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

// Everything printable, one after the other.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// An example ends with an error where it finds something else than it promises.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw std::runtime_error(text(parts...));
}

#pragma once

#include <cstdio>
#include <string>

namespace keratin::io {

// True if a version such as "2.0.5" is before another. A string without a number is before all.
inline bool is_before(const std::string& version, int major, int minor, int patch) {
  int a = 0, b = 0, c = 0;
  std::sscanf(version.c_str(), "%d.%d.%d", &a, &b, &c);
  if (a != major) return a < major;
  return b != minor ? b < minor : c < patch;
}

}  // namespace keratin::io

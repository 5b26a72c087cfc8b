#pragma once

#include <cstdlib>
#include <string>

namespace keratin::simulator {

// True for a word of KERATIN_SIMULATOR, which are separated by commas.
//   eager     work is done as soon as possible, instead of as late
//   checked   every access of kernels to memory is looked at
inline bool is_set(const std::string& word) {
  const char* words = std::getenv("KERATIN_SIMULATOR");
  return words != nullptr &&
         (',' + std::string(words) + ',').find(',' + word + ',') != std::string::npos;
}

}  // namespace keratin::simulator

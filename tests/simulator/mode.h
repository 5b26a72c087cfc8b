#pragma once

#include <cstdlib>
#include <string>

namespace keratin::simulator {

// Is it among the words of KERATIN_SIMULATOR, which are separated by commas?
//   eager     work is done as soon as possible, instead of as late
//   checked   every access of kernels to memory is looked at
inline bool is_asked_for(const std::string& word) {
  const char* words = std::getenv("KERATIN_SIMULATOR");
  return words != nullptr &&
         (',' + std::string(words) + ',').find(',' + word + ',') != std::string::npos;
}

}  // namespace keratin::simulator

#include "keratin/optimizers/pattern.h"

#include <regex>

#include "keratin/base/text.h"

namespace keratin {
namespace {

std::regex compiled(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& error) {
    fail("optimizer: '", pattern, "' is no regular expression: ", error.what());
  }
}

}  // namespace

bool found_in(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, compiled(pattern));
}

bool is_whole(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, compiled(pattern));
}

}  // namespace keratin

#pragma once

#include <string>

namespace keratin {

// Whether a regular expression is found in the text, or is all of it.
bool found_in(const std::string& text, const std::string& pattern);
bool is_whole(const std::string& text, const std::string& pattern);

}  // namespace keratin

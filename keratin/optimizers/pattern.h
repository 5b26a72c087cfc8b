#pragma once

#include <string>

namespace keratin {

// True if a regular expression matches somewhere in the text, or the whole text.
bool found_in(const std::string& text, const std::string& pattern);
bool is_whole(const std::string& text, const std::string& pattern);

}  // namespace keratin

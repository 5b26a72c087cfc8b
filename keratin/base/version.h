#pragma once

#include <string_view>

#pragma GCC visibility push(default)

namespace keratin {

// The version of the library, for example "1.2.3".
std::string_view version();

}  // namespace keratin

#pragma GCC visibility pop

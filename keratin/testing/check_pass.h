#pragma once

#include <functional>
#include <string_view>

#include "keratin/ir/module.h"

namespace keratin::testing {

// Parses `before`, runs the pass and compares with `after`, both in the text form; names, spaces
// and written types do not matter. The result must verify, and a second run must change nothing.
void check_pass(const std::function<Module(Module)>& pass, std::string_view before,
                std::string_view after);

}  // namespace keratin::testing

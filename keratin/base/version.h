#pragma once

#include <string_view>

#include "keratin/base/export.h"

namespace keratin {

// The version of the library, for example "1.2.3".
KERATIN_API std::string_view version();

}  // namespace keratin

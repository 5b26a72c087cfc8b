// The library's own code calls these by their short names; no public header includes this one.
#pragma once

#include "keratin/base/error.h"

namespace keratin {

using detail::ensure;
using detail::fail;
using detail::require;
using detail::text;

}  // namespace keratin

#pragma once

#include "keratin/base/json.h"
#include "keratin/ops/lookup.h"

namespace keratin {

// How to hash to bins with a salt of a config: null, a number or two.
ops::HashAttrs salted(int64_t bins, const Json& salt, std::string_view who);

}  // namespace keratin

#pragma once

#include "keratin/distribute/distribution.h"

namespace keratin::distribute {

// Gives each variable its home, or its parts theirs, as the distribution's layouts say. What is not
// split is mirrored where the distribution says so, or lives on one device of those that could have
// it, the largest first, each where there is least so far: together the devices then take one step
// of the optimizer, not each a whole one.
void lay_out(const std::vector<Variable>& variables, const Distribution& distribution);

}  // namespace keratin::distribute

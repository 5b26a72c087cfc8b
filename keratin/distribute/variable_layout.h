#pragma once

#include "keratin/distribute/distribution.h"
#include "keratin/graph/variable.h"

namespace keratin::distribute {

// Stores each variable on its owner device, or its shards on theirs, as the distribution's layouts
// say. A variable that is not sharded is mirrored where the distribution says so. All others get
// one owner device: the largest variable first, each on the device that has the least so far, so
// that the devices share one step of the optimizer. If memory runs out, nothing changes.
void store_variables(const std::vector<Variable>& variables, const Distribution& distribution);

}  // namespace keratin::distribute

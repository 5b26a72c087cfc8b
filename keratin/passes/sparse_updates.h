#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// The gradient of a lookup is scatter_add(zeros, indices, updates): a table, mostly zeros. Where it
// is only scaled and added, the table is never made:
//   w - lr · scatter_add(0, i, u)  becomes  scatter_add(w, i, -(lr · u))
// so that a step costs what the rows in the batch cost, not what the table does.
Module sparse_updates(Module module);

}  // namespace keratin

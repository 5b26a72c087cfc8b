#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// The gradient of a lookup is scatter_add(zeros, indices, updates): a table, mostly zeros. If it is
// only scaled and added, the table is never made:
//   w - lr · scatter_add(0, i, u)  becomes  scatter_add(w, i, -(lr · u))
// so that the cost of a step is that of the rows in the batch, not of the whole table.
Module sparse_updates(Module module);

}  // namespace keratin

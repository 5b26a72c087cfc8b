#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Loops over the same inputs that carry the same state become one loop with the ys of both. The
// gradient of a loop runs the loop again to keep its states; after this pass it runs once.
Module merge_scans(Module module);

}  // namespace keratin

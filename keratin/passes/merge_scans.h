#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Merges loops over the same inputs that carry the same state into one with the ys of all. The
// gradient of a loop runs the loop again to keep its states; after this pass it runs once.
Module merge_scans(Module module);

}  // namespace keratin

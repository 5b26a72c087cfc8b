#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Transfers every input to the device where its user runs, and every update to the device of its
// state, each value at most once per device. Constants and iotas are created there instead. A
// transfer to the device where the value already is is removed.
Module insert_transfers(Module module);

}  // namespace keratin

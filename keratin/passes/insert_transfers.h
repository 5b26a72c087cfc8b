#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Brings every input to the device its user runs on, and every update to the device of its state,
// each value at most once per device. Constants and counts are made anew there instead. Transfers
// to where a value already is disappear.
Module insert_transfers(Module module);

}  // namespace keratin

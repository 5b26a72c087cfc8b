#pragma once

#include <string>

#include "keratin/base/export.h"
#include "keratin/engine/executable.h"

namespace keratin {

// Draws the plan: a column per device with its steps from top to bottom, in an order in which all
// of them could run, and an arrow to each step from the steps of other devices that it waits for.
KERATIN_API std::string plan_to_svg(const Executable& program);

}  // namespace keratin

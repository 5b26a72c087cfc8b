#pragma once

#include "keratin/plan/plan.h"

namespace keratin {

// Finds for each step what it must wait for on other queues: steps that wrote memory which it
// reads, and steps that read or wrote memory which it writes. The steps of one queue run in order
// anyway.
void find_waits(Plan& plan);

}  // namespace keratin

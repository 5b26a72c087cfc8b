#pragma once

#include "keratin/plan/plan.h"

namespace keratin {

// Says of each step what it must wait for on other queues: whoever wrote what it reads, and whoever
// still reads or wrote what it writes. Queues keep their own order by themselves.
void find_waits(Plan& plan);

}  // namespace keratin

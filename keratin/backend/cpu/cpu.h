#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Fast kernels for this machine's CPU: generated tiles and loops, and fixed routines. It claims
// the ops that gain from a kernel; the rest is decomposed or left to the reference backend.
const Backend& cpu_backend();

}  // namespace keratin

#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Fast kernels for this machine's CPU: generated tiles and loops, and fixed kernels. It runs what
// pays; the rest is decomposed or left to the reference backend.
const Backend& cpu_backend();

}  // namespace keratin

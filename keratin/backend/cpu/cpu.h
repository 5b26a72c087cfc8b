#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Fast kernels for this machine's CPU: oneDNN, generated loops and our own. It runs what pays;
// the rest is decomposed or left to the reference backend.
const Backend& cpu_backend();

}  // namespace keratin

#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Plain loops for every primitive op: slow, obvious, and what every other backend is tested
// against. Composite ops are run through their decompositions.
const Backend& reference_backend();

}  // namespace keratin

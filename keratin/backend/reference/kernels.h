#pragma once

#include "keratin/plan/kernel.h"

namespace keratin::reference {

// The records of this backend; each stands in the file of its loop.
std::span<const KernelDef* const> kernels();

}  // namespace keratin::reference

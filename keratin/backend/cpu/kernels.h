#pragma once

#include <span>

#include "keratin/plan/kernel.h"

namespace keratin::cpu {

// The records of this backend's kernels, best first, and what derives from them.
std::span<const KernelDef* const> all_kernels();
const KernelList& kernels();

}  // namespace keratin::cpu

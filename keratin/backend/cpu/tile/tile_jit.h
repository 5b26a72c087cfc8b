#pragma once

#include "keratin/backend/cpu/tile/tile_kernel.h"

namespace keratin::cpu {

// Machine code for a tile on AVX2 (v3) and AVX-512 (v4); null elsewhere, and where the
// system gives no executable memory.
TileKernelPtr generate_tile(const TileSpec& spec);

}  // namespace keratin::cpu

#pragma once

#include "keratin/backend/cpu/tile/conv.h"
#include "keratin/backend/cpu/tile/tap_grid.h"

namespace keratin::cpu {

// Every channel by itself: as many groups as channels and filters. Rows of pixels at a time, with
// vectors along the channels; halves are read and written as they are.
bool is_depthwise(const ConvDesc& desc);
std::unique_ptr<Conv> make_depthwise(const ConvDesc& desc, ConvDirection direction,
                                     const ConvOptions& options);

}  // namespace keratin::cpu

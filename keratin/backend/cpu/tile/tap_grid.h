#pragma once

#include <utility>
#include <vector>

#include "keratin/backend/cpu/tile/conv_desc.h"

namespace keratin::cpu {

// A dense convolution that is all or a piece of a convolution. It writes the pixels first + q step
// of its output, q < count; each is a sum over taps, at the pixels from + q move + offset of its
// input. Going forward there is one grid. Backwards, with a stride, input pixels that share a
// remainder see the same taps, so there is one grid per remainder.
struct TapGrid {
  Spatial first{0, 0, 0}, step{1, 1, 1}, count{0, 0, 0};
  Spatial from{0, 0, 0}, move{1, 1, 1};
  struct Tap {
    Spatial offset;  // none negative
    int64_t index;   // in the filter
  };
  std::vector<Tap> taps;    // in ascending order of offset
  Spatial extent{0, 0, 0};  // one more than the largest offset
  bool empty() const { return count[0] == 0 || count[1] == 0 || count[2] == 0; }
};

// True if the pixel that an offset reads for position q is inside the input, along dimension d.
bool is_inside(const TapGrid& grid, const Spatial& input, size_t d, int64_t offset, int64_t q);

// The positions for which it is: [first, second).
std::pair<int64_t, int64_t> places_inside(const TapGrid& grid, const Spatial& input, size_t d,
                                          int64_t offset);
bool reaches_outside(const TapGrid& grid, const Spatial& input);

// Numbers the positions along one dimension by which offsets are inside: positions of one kind see
// the same taps. A position is `step` neighbours, or what is left of them at the end.
std::vector<size_t> kinds_along(const TapGrid& grid, const Spatial& input, size_t d, int64_t step);
size_t kind_count(const std::vector<size_t>& kinds);

TapGrid forward_grid(const ConvDesc& desc);
// From the gradient of y to that of x.
std::vector<TapGrid> backward_grids(const ConvDesc& desc);

}  // namespace keratin::cpu

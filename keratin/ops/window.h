#pragma once

#include <array>
#include <string>
#include <string_view>

#include "keratin/base/export.h"
#include "keratin/tensor/shape.h"

// Windows that slide over the spatial axes of [batch, spatial…, channels], for convolution and
// pooling.
namespace keratin::ops {

inline constexpr int64_t max_spatial = 3;

// Along one axis, output o reads the inputs o·stride - low + k·dilation for 0 <= k < window; what
// lies outside [0, input) is padding. Negative padding skips elements at that end.
struct WindowAxis {
  int64_t input = 1;
  int64_t window = 1;
  int64_t output = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t low = 0;
  int64_t high = 0;

  int64_t extent() const { return (window - 1) * dilation + 1; }
  // The input under element k of window o; outside [0, input) it is padding.
  int64_t source(int64_t o, int64_t k) const { return o * stride - low + k * dilation; }
  bool inside(int64_t position) const { return position >= 0 && position < input; }
};

// Where fewer than three axes are spatial, the first ones here have size 1.
using WindowAxes = std::array<WindowAxis, max_spatial>;

// Strides, dilations and padding of a window; empty lists mean 1 (0 for low and high).
struct Sliding {
  Dims strides;
  Dims dilations;
  std::string padding;  // "valid", "same", "causal" (1 axis) or "explicit"
  Dims low;
  Dims high;
};

// Resolves the padding as Keras does and finds the output sizes, for the axes input[1 … rank - 2].
// `window` has one size per spatial axis. Sizes may be unknown; then so are outputs and padding.
KERATIN_API WindowAxes slide(std::string_view who, const Shape& input, const Dims& window,
                             const Sliding& how);

// [N, C, spatial…] to [N, spatial…, C], and back: the permutations for a rank.
KERATIN_API Dims to_channels_last(int64_t rank);
KERATIN_API Dims to_channels_first(int64_t rank);
// True for "channels_first", false for "channels_last"; anything else is refused.
KERATIN_API bool is_channels_first(std::string_view who, std::string_view data_format);

}  // namespace keratin::ops

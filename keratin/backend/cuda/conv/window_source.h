#pragma once

#include "keratin/backend/cuda/source.h"
#include "keratin/ops/window.h"

// Source code that finds the elements of windows, for convolutions and pooling.
namespace keratin::cuda {

using ops::WindowAxes;

inline int64_t inputs_of(const WindowAxes& a) { return a[0].input * a[1].input * a[2].input; }
inline int64_t outputs_of(const WindowAxes& a) { return a[0].output * a[1].output * a[2].output; }
inline int64_t window_of(const WindowAxes& a) { return a[0].window * a[1].window * a[2].window; }

// Includes kernels/windows.cu and defines its `layout`. `channels` are those of the input,
// `outputs` those of the output.
struct WindowChannels {
  int64_t channels = 1, outputs = channels, groups = 1;
};
std::string define_windows(const WindowAxes& axes, const WindowChannels& channels);
// The numbers of such a layout, in braces.
std::string layout_of(const WindowAxes& axes, const WindowChannels& channels);

}  // namespace keratin::cuda

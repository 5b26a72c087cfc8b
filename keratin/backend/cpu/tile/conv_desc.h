#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "keratin/backend/cpu/tile/matmul.h"

namespace keratin::cpu {

using Spatial = std::array<int64_t, 3>;  // depth, height, width; fewer dims have ones in front

// y[n, o, f] = post(sum over taps t, channels c of x[n, o stride + t dilation - pad, c] w[t, c, f])
// with x [batch, input, channels], w [kernel, channels / groups, filters], y [batch, output,
// filters] and zeros outside of x. Group g joins the g-th slice of the channels to that of the
// filters. Padding at the end is whatever the output size implies; padding may be negative.
struct ConvDesc {
  DType dtype = DType::f32;  // f64, f32, f16, bf16; halves are summed in f32
  int64_t batch = 0, channels = 0, filters = 0, groups = 1;
  Spatial input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1};
  Spatial stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
  std::vector<TilePost> post;  // of the forward direction
  double cap = 0;              // for TilePost::cap
  bool hook = false;
  bool packed_filter = false;  // the filter comes as Conv::pack leaves it; forward only

  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
  double flops() const {
    return 2.0 * double(batch * output_size()) * double(taps() * group_channels()) *
           double(filters);
  }
  // Every output pixel reads its own input pixel alone: a matmul of pixels.
  bool is_matmul() const {
    return groups == 1 && taps() == 1 && input == output && stride == Spatial{1, 1, 1} &&
           pad == Spatial{0, 0, 0};
  }
};

}  // namespace keratin::cpu

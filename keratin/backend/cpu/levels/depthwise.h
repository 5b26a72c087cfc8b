#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

namespace keratin::cpu {

// What is done to a sum before it is stored; see TilePost.
enum class DepthwisePost : uint8_t { bias, addend, relu, cap };

// Some pixels of a row, all with the same taps: tap t of a pixel reads `offsets[t]` elements from
// where x points for it, and has the weights w[indices[t]].
struct DepthwiseRow {
  const void* x;
  const void* w;       // [taps of the filter, channels]
  const void* bias;    // [channels]
  const void* addend;  // laid out as y
  void* y;             // of the gradient: what x is multiplied by
  int64_t pixels, channels;
  int64_t x_step, y_step;  // elements from pixel to pixel
  const int64_t* offsets;
  const int64_t* indices;
  int64_t taps;
  const DepthwisePost* post;
  int64_t posts;
  double cap;  // for DepthwisePost::cap
};

struct DepthwiseRoutines {
  // y[p, c] = post(sum over t of x[p, c + offsets[t]] w[indices[t], c])
  ByDType<void (*)(const DepthwiseRow&)> row;
  // sums[indices[t], c] += sum over p of x[p, c + offsets[t]] y[p, c], in f32 (f64 for f64)
  ByDType<void (*)(const DepthwiseRow&, void* sums)> grad_row;

  static const DepthwiseRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

#include "workload.h"

namespace keratin::bench {

using namespace layers;

namespace {

// Reviews of 50 to 200 words out of 20000, padded with zeros.
Tensor reviews(int64_t count) {
  constexpr int64_t steps = 200, shortest = 50;
  Tensor x = random(DType::i32, {count, steps}, 19999);
  for (int64_t row = 0; row < count; ++row) {
    const int64_t length = shortest + row * 37 % (steps - shortest + 1);
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t at = row * steps + t;
      x.set(at, t < length ? x.at(at) + 1 : 0);
    }
  }
  return x;
}

}  // namespace

// Embedding 20000 x 128 with masks, LSTM 128, one sigmoid; batch 64.
Workload lstm(const DTypePolicy& policy) {
  const LayerOptions by{.dtype = policy};
  return {"lstm",
          Sequential({Embedding({.input_dim = 20000, .output_dim = 128, .mask_zero = true}, by),
                      LSTM({.units = 128}, by), Dense({.units = 1, .activation = "sigmoid"}, by)}),
          losses::BinaryCrossentropy{},
          reviews(64),
          random(DType::f32, {64, 1}, 2),
          reviews(1),
          200};
}

}  // namespace keratin::bench

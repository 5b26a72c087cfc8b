#pragma once

#include <cmath>

#include "keratin/backend/cuda/trial.h"

namespace keratin::cuda {

inline Tensor wave(const Type& type, int seed) {
  Tensor t(type.dtype, type.shape);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, std::sin(0.7 * static_cast<double>(i) + seed));
  return t;
}

// An output of a step on the same inputs each time, or with one that is no number.
inline Tensor output_of(const Node& node, const Kernel& kernel, bool nan = false,
                        size_t output = 0) {
  Trial trial(node);
  for (size_t i = 0; i < node.input_count(); ++i) {
    Tensor in = wave(node.in(i).type(), static_cast<int>(i));
    if (nan && i == 0) in.set(0, std::nan(""));
    trial.queue().upload(trial.at(i), in.raw(), in.bytes());
  }
  trial.bind(kernel)();
  Tensor out(node.type(output).dtype, node.type(output).shape);
  trial.queue().download(out.raw(), trial.at(node.input_count() + output), out.bytes());
  trial.queue().finish();
  return out;
}

}  // namespace keratin::cuda

#pragma once

#include <cmath>

#include "keratin/backend/cuda/driver/standalone_step.h"

namespace keratin::cuda {

inline Tensor wave(const Type& type, int seed) {
  Tensor t(type.dtype, type.shape);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, std::sin(0.7 * static_cast<double>(i) + seed));
  return t;
}

// The same in numbers that TF32 represents exactly.
inline Tensor coarse_wave(const Type& type, int seed) {
  Tensor t = wave(type, seed);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, std::round(64 * t.at(i)) / 64);
  return t;
}

// The inputs of a step, the same each time, and which output is returned.
struct StepData {
  bool nan = false;  // the first element is NaN
  size_t output = 0;
  Tensor (*make)(const Type& type, int seed) = wave;
};

inline Tensor output_of(const Node& node, const Kernel& kernel, const StepData& data = {}) {
  StandaloneStep step(node);
  for (size_t i = 0; i < node.input_count(); ++i) {
    Tensor in = data.make(node.in(i).type(), static_cast<int>(i));
    if (data.nan && i == 0) in.set(0, std::nan(""));
    step.queue().upload(step.at(i), in.raw(), in.bytes());
  }
  step.bind(kernel)();
  const Type& type = node.type(data.output);
  Tensor out(type.dtype, type.shape);
  step.queue().download(out.raw(), step.at(node.input_count() + data.output), out.bytes());
  step.queue().finish();
  return out;
}

}  // namespace keratin::cuda

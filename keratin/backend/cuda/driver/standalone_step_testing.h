#pragma once

#include <cmath>

#include "keratin/backend/cuda/driver/standalone_step.h"

namespace keratin::cuda {

inline Tensor wave(const Type& type, int seed) {
  Tensor t(type.dtype, type.shape);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, std::sin(0.7 * static_cast<double>(i) + seed));
  return t;
}

// The same in numbers that TF32 has all bits of.
inline Tensor coarse_wave(const Type& type, int seed) {
  Tensor t = wave(type, seed);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, std::round(64 * t.at(i)) / 64);
  return t;
}

// What a step is given, the same each time, and which of its outputs is looked at.
struct TrialData {
  bool nan = false;  // the first number is none
  size_t output = 0;
  Tensor (*make)(const Type& type, int seed) = wave;
};

inline Tensor output_of(const Node& node, const Kernel& kernel, const TrialData& data = {}) {
  Trial trial(node);
  for (size_t i = 0; i < node.input_count(); ++i) {
    Tensor in = data.make(node.in(i).type(), static_cast<int>(i));
    if (data.nan && i == 0) in.set(0, std::nan(""));
    trial.queue().upload(trial.at(i), in.raw(), in.bytes());
  }
  trial.bind(kernel)();
  const Type& type = node.type(data.output);
  Tensor out(type.dtype, type.shape);
  trial.queue().download(out.raw(), trial.at(node.input_count() + data.output), out.bytes());
  trial.queue().finish();
  return out;
}

}  // namespace keratin::cuda

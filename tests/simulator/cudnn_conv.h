#pragma once

#include <map>
#include <vector>

#include "numbers.h"

// Convolutions as cuDNN computes them, and how engines differ.
namespace keratin::simulator::cudnn {

// Output o sees the inputs o · stride - padding + k · dilation for 0 <= k < window.
struct Axis {
  int64_t input, window, output, stride, dilation, padding;
};

enum class Result { y, w, x };

// x is [batch, positions…, channels], w is [outputs, positions…, channels / groups], y is
// [batch, positions…, outputs].
struct Convolution {
  Result result = Result::y;
  Number type = Number::f32;
  int64_t batch = 1, channels = 1, outputs = 1, groups = 1;
  std::vector<Axis> axes;
};

// What follows on a convolution, in f32: another image is added, or a number for each output
// channel, or it is relu.
struct Step {
  enum class Kind { add_image, add_row, relu } kind;
  int64_t id = 0;
};

// Tensors have numbers; y is what the last step gives.
struct Program {
  Convolution convolution;
  int64_t x = 0, w = 0, y = 0;
  std::vector<Step> steps;
};

enum class Rounding { none, tf32, bf16 };

struct Engine {
  std::vector<int> numerical_notes = {}, behavior_notes = {};
  Rounding rounding = Rounding::none;  // of the factors
  bool in_parts = false;   // the sums are split, kept in the workspace and joined in order
  bool loses_nan = false;  // in relu
  bool unsteady = false;   // other last bits in every other run
  bool refuses = false;    // when a plan is made of it
  bool is_greedy = false;  // in the memory that it wants
};

size_t workspace_bytes(const Program& program, const Engine& engine);

// Addresses by the numbers of tensors.
void run(const Program& program, const Engine& engine, const std::map<int64_t, void*>& addresses,
         void* workspace);

}  // namespace keratin::simulator::cudnn

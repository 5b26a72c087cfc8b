#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"
#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu {

// Statistics and scratch hold the type arithmetic is done in: double for f64, else float.
constexpr int64_t compute_bytes(DType dtype) { return dtype == DType::f64 ? 8 : 4; }

// y = (x - mean) rstd gamma + beta over each row, rstd = 1 / sqrt(var + epsilon). rms_norm is the
// same with mean 0. gamma, beta, mean and rstd may be null.
struct LayerNormArgs {
  const void* x;
  const void* gamma;
  const void* beta;
  void* y;
  void* mean;
  void* rstd;
  int64_t rows, cols;
  double epsilon;
  int threads;
};

// dgamma and dbeta may be null, and dx too.
struct LayerNormGradArgs {
  const void* x;
  const void* gamma;
  const void* dy;
  const void* mean;
  const void* rstd;
  void* dx;
  void* dgamma;
  void* dbeta;
  int64_t rows, cols;
  void* scratch;  // layer_norm_grad_scratch bytes
  int threads;
};

inline FixedSplit layer_norm_split(int64_t rows) { return fixed_split(rows, 16); }
inline int64_t layer_norm_grad_scratch(DType dtype, int64_t rows, int64_t cols) {
  return layer_norm_split(rows).chunks * 2 * cols * compute_bytes(dtype);
}

// Channels last: statistics over the rows of [rows, channels]. In training mean and var are
// results, in inference they are given. gamma and beta may be null.
struct BatchNormArgs {
  const void* x;
  const void* gamma;
  const void* beta;
  void* y;
  void* mean;
  void* var;
  int64_t rows, channels;
  double epsilon;
  void* scratch;  // batch_norm_scratch bytes
  int threads;
};

struct BatchNormGradArgs {
  const void* x;
  const void* gamma;
  const void* dy;
  const void* mean;
  const void* var;
  void* dx;
  void* dgamma;
  void* dbeta;
  int64_t rows, channels;
  double epsilon;
  void* scratch;  // batch_norm_scratch bytes
  int threads;
};

inline FixedSplit batch_norm_split(int64_t rows, int64_t channels) {
  return fixed_split(rows, 16384 / (channels + 1) + 32);
}
inline int64_t batch_norm_scratch(DType dtype, int64_t rows, int64_t channels) {
  return (batch_norm_split(rows, channels).chunks * 2 + 4) * channels * compute_bytes(dtype);
}

struct LayerNormRoutines {
  ByDType<void (*)(const LayerNormArgs&)> layer_norm, rms_norm;
  ByDType<void (*)(const LayerNormGradArgs&)> layer_norm_grad, rms_norm_grad;

  static const LayerNormRoutines v2, v3, v4, portable;
};

struct BatchNormRoutines {
  ByDType<void (*)(const BatchNormArgs&)> training, inference;
  ByDType<void (*)(const BatchNormGradArgs&)> grad;

  static const BatchNormRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu

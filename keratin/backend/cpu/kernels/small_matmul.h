#pragma once

#include <cstdint>

#include "keratin/backend/cpu/kernels/by_dtype.h"

namespace keratin::cpu {

enum class MatmulActivation { none, relu, sigmoid, tanh };

// y = activation(a b + bias) for `batch` pairs of matrices: a[i, k] at a[i * a_row + k * a_col],
// b[k, j] at b[k * b_row + j * b_col], y[i, j] at y[i * y_row + j]. One of a matrix's steps is 1.
// Meant for products too small to be worth a library's set-up; serial unless b is large.
struct SmallMatmulArgs {
  const void* a;
  const void* b;
  const void* bias;  // n elements, or null
  void* y;
  int64_t batch, m, n, k;
  int64_t a_row, a_col, b_row, b_col, y_row;
  int64_t a_batch, b_batch, y_batch;  // from one matrix to the next
  MatmulActivation activation;
  int threads;
};

struct SmallMatmulKernels {
  ByDType<void (*)(const SmallMatmulArgs&)> matmul;
};

}  // namespace keratin::cpu

#pragma once

#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/tensor/tensor.h"

// Inputs that show whether an algorithm computes the sums of a matmul correctly.
namespace keratin::cuda {

struct SumCheck {
  Tensor a, b;
  Tensor bits;  // of a gradient of relu
  Tensor sums;  // the expected sums, where they are known
};

// For a batch of one. Sums are between 0 and 4. Elements that are left out, counted twice or
// rounded to TF32 show in the sums, and so do elements that a gradient of relu should have left
// out.
SumCheck known_sums(const MatmulShape& shape, DType dtype);

// Factors whose sums are rounded: another order gives other bits.
SumCheck uneven_sums(const MatmulShape& shape, DType dtype);

// True if they differ by rounding only.
bool are_close(const Tensor& sums, const Tensor& expected);

}  // namespace keratin::cuda

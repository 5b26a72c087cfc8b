#pragma once

#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/tensor/tensor.h"

// Numbers to try out on whether an algorithm makes the sums beside a product as it should.
namespace keratin::cuda {

struct SumCheck {
  Tensor a, b;
  Tensor bits;  // of a gradient of relu
  Tensor sums;  // what must come out, where that is known
};

// Of one batch. Sums are between 0 and 4. What is left out, counted twice or rounded to TF32 is
// seen, and so is what a gradient of relu should have left out.
SumCheck known_sums(const MatmulShape& shape, DType dtype);

// Factors whose sums are rounded on the way: another order gives other bits.
SumCheck uneven_sums(const MatmulShape& shape, DType dtype);

// But for rounding.
bool are_close(const Tensor& sums, const Tensor& expected);

}  // namespace keratin::cuda

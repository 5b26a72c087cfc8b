#pragma once

#include "keratin/backend/cuda/cublas.h"
#include "keratin/plan/backend.h"

namespace keratin::cuda {

// What every address of a value is a multiple of: it may be a slice of a larger one.
uint32_t alignment_of(const Type& type);

// out[batch, rows, columns] = a · b, row-major; a is [rows, depth], or [depth, rows] when
// transposed, b likewise. A stride of 0 is one factor for all of the batch.
struct GemmShape {
  int64_t rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1, stride_a = 0, stride_b = 0;
  uint32_t alignment_a = 64, alignment_b = 64, alignment_out = 64;
};

// A product by cuBLASLt, its algorithm chosen once.
class Gemm {
 public:
  Gemm(Device device, const GemmShape& shape, DType dtype, bool tf32);

  size_t scratch_bytes() const;
  // Into the current queue.
  void run(const void* a, const void* b, void* out, void* scratch) const;

 private:
  bool f64_;
  cublas::Operation operation_;
  cublas::Layout a_, b_, out_;
  cublas::Choice choice_;
};

}  // namespace keratin::cuda

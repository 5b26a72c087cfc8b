#include "keratin/backend/cuda/gemm.h"

#include "keratin/backend/cuda/gpu.h"

namespace keratin::cuda {

uint32_t alignment_of(const Type& type) {
  size_t alignment = 64;
  while (bytes_of(type) % alignment != 0) alignment /= 2;
  return static_cast<uint32_t>(alignment);
}

Gemm::Gemm(Device device, const GemmShape& s, DType dtype, bool tf32) : f64_(dtype == DType::f64) {
  gpu(device).enter();
  // A row-major matrix is the transpose of a column-major one: outᵀ = bᵀ · aᵀ.
  const cublas::DataType type = cublas::data_type(dtype);
  const int compute = f64_   ? cublas::compute_f64
                      : tf32 ? cublas::compute_tf32
                             : cublas::compute_f32;
  operation_ = cublas::Operation(compute, f64_ ? cublas::DataType::f64 : cublas::DataType::f32,
                                 s.transpose_b, s.transpose_a);
  b_ = s.transpose_b ? cublas::Layout(type, s.depth, s.columns)
                     : cublas::Layout(type, s.columns, s.depth);
  a_ =
      s.transpose_a ? cublas::Layout(type, s.rows, s.depth) : cublas::Layout(type, s.depth, s.rows);
  out_ = cublas::Layout(type, s.columns, s.rows);
  if (s.batch != 1) {
    b_.batch(s.batch, s.stride_b);
    a_.batch(s.batch, s.stride_a);
    out_.batch(s.batch, s.rows * s.columns);
  }
  choice_ =
      cublas::choose(operation_, b_, a_, out_, {s.alignment_b, s.alignment_a, s.alignment_out});
}

size_t Gemm::scratch_bytes() const {
  return choice_.workspace_bytes == 0 ? 0 : choice_.workspace_bytes + cublas::alignment;
}

void Gemm::run(const void* a, const void* b, void* out, void* scratch) const {
  const double one64 = 1, zero64 = 0;
  const float one = 1, zero = 0;
  const void* alpha = f64_ ? static_cast<const void*>(&one64) : &one;
  const void* beta = f64_ ? static_cast<const void*>(&zero64) : &zero;
  cublas::multiply(operation_, alpha, b, b_, a, a_, beta, out, out_, choice_, scratch,
                   current_queue().stream());
}

}  // namespace keratin::cuda

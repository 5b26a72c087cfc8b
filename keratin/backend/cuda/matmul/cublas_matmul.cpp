#include "keratin/backend/cuda/matmul/cublas_matmul.h"

#include "keratin/backend/cuda/driver/gpu.h"

namespace keratin::cuda {

uint32_t alignment_of(const Type& type) {
  size_t alignment = 64;
  while (bytes_of(type) % alignment != 0) alignment /= 2;
  return static_cast<uint32_t>(alignment);
}

CublasMatmul::CublasMatmul(Device device, const MatmulShape& shape, DType dtype, bool tf32)
    : CublasMatmul(device, shape, dtype, tf32, Described{}) {
  const auto choice = choose(true);
  if (!choice) throw BackendError("cuda: cuBLASLt has no algorithm for this matmul");
  choice_ = *choice;
}

bool CublasMatmul::is_possible(Device device, const MatmulShape& shape, DType dtype) {
  for (const bool tf32 : {true, false})
    if (!CublasMatmul(device, shape, dtype, tf32, Described{}).choose(false)) return false;
  return true;
}

CublasMatmul::CublasMatmul(Device device, const MatmulShape& s, DType dtype, bool tf32, Described)
    : device_(device), shape_(s), dtype_(dtype), tf32_(tf32) {
  gpu(device).enter();
  // A row-major matrix is the transpose of a column-major one: outᵀ = bᵀ · aᵀ.
  const cublas::DataType type = cublas::data_type(dtype);
  operation_ = make_operation();
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
}

cublas::Operation CublasMatmul::make_operation() const {
  const bool f64 = dtype_ == DType::f64;
  const int compute = f64                             ? cublas::compute_f64
                      : tf32_ && dtype_ == DType::f32 ? cublas::compute_tf32
                                                      : cublas::compute_f32;
  cublas::Operation operation(compute, f64 ? cublas::DataType::f64 : cublas::DataType::f32,
                              shape_.transpose_b, shape_.transpose_a);
  if (shape_.relu_grad)
    operation.relu_grad(shape_.bits_of_row());
  else
    operation.epilogue(shape_.bias, shape_.relu);
  set_sum(operation);
  return operation;
}

// The library's left factor is b.
void CublasMatmul::set_sum(const cublas::Operation& operation) const {
  if (shape_.sum == MatmulSum::of_b) operation.sum_left();
  if (shape_.sum == MatmulSum::of_a) operation.sum_right();
  if (shape_.sum == MatmulSum::of_result) operation.sum_relu_grad();
}

size_t CublasMatmul::scratch_bytes() const {
  return choice_.workspace_bytes == 0 ? 0 : choice_.workspace_bytes + cublas::alignment;
}

void CublasMatmul::run(const cublas::Operation& operation, const MatmulMemory& operands) const {
  multiply(operation, operands, choice_, current_queue().stream());
}

void CublasMatmul::multiply(const cublas::Operation& operation, const MatmulMemory& o,
                            const cublas::Choice& choice, StreamHandle stream) const {
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const bool f64 = dtype_ == DType::f64;
  const void* one = f64 ? static_cast<const void*>(&one64) : &one32;
  const void* zero = f64 ? static_cast<const void*>(&zero64) : &zero32;
  if (shape_.bias) operation.bias(o.bias);
  if (shape_.sum != MatmulSum::none) operation.bias(o.sums);
  if (shape_.relu_grad) operation.bits(o.bits);
  cublas::multiply(operation, one, o.b, b_, o.a, a_, shape_.addend ? one : zero,
                   shape_.addend ? o.addend : o.out, o.out, out_, choice, o.scratch, stream);
}

}  // namespace keratin::cuda

#pragma once

#include <optional>

#include "keratin/backend/cuda/matmul/cublas.h"
#include "keratin/plan/backend.h"

namespace keratin::cuda {

// The alignment of a value's address, which may be a slice of a larger value.
uint32_t alignment_of(const Type& type);

// What a matmul also sums up: over the depth, a transposed a (one number per row of the result) or
// a b that is not transposed (one per column), or over the rows of a gradient of relu.
enum class MatmulSum { none, of_a, of_b, of_result };

// out[batch, rows, columns] = relu(a · b + bias + addend), row-major; a is [rows, depth], or
// [depth, rows] when transposed, b likewise. A stride of 0: one factor for the whole batch. The
// bias is one number per column, the addend has the shape of the result. Instead of relu it may be
// its gradient: zero where a bit is not set; each row of the result has `bits_of_row` bits.
struct MatmulShape {
  int64_t rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1, stride_a = 0, stride_b = 0;
  uint32_t alignment_a = 64, alignment_b = 64, alignment_out = 64;  // the last is the addend's too
  bool bias = false, addend = false, relu = false, relu_grad = false;
  MatmulSum sum = MatmulSum::none;

  int64_t bits_of_row() const { return (columns + 127) / 128 * 128; }
  int64_t sums() const { return sum == MatmulSum::of_a ? rows : columns; }
  // A smaller matmul takes no longer than its launch, whichever algorithm runs it.
  bool is_worth_timing() const {
    constexpr int64_t min_work = int64_t{1} << 18;
    return batch * rows * columns >= (min_work + depth - 1) / depth;
  }
};

struct MatmulMemory {
  const void *a = nullptr, *b = nullptr;
  void* out = nullptr;
  void* scratch = nullptr;
  const void *bias = nullptr, *addend = nullptr, *bits = nullptr;
  void* sums = nullptr;
};

// Everything that the fastest algorithm of a chip depends on.
std::string text_of(const MatmulShape& shape, DType dtype, bool tf32);

// A matmul by cuBLASLt; its algorithm is chosen once.
class CublasMatmul {
 public:
  CublasMatmul(Device device, const MatmulShape& shape, DType dtype, bool tf32);

  // True if the library has an algorithm, with TF32 and without.
  static bool is_possible(Device device, const MatmulShape& shape, DType dtype);

  size_t scratch_bytes() const;
  // Launches into the current queue. Not for matmuls with a bias, bits or sums.
  void run(const void* a, const void* b, void* out, void* scratch) const {
    run(operation_, {.a = a, .b = b, .out = out, .scratch = scratch});
  }
  // The same with all operands. An operation holds the address of the bias, the bits or the sums:
  // threads that share a matmul have one each.
  cublas::Operation make_operation() const;
  void run(const cublas::Operation& operation, const MatmulMemory& operands) const;

 private:
  class Benchmark;
  struct Described {};
  CublasMatmul(Device device, const MatmulShape& shape, DType dtype, bool tf32, Described);
  void set_sum(const cublas::Operation& operation) const;
  void multiply(const cublas::Operation& operation, const MatmulMemory& operands,
                const cublas::Choice& choice, StreamHandle stream) const;
  // The fastest algorithm, from the cache or found now, or else the first; none if none is right.
  std::optional<cublas::Choice> choose(bool for_speed) const;
  // Throws BackendError if there is no memory to run algorithms in.
  std::optional<cublas::Choice> search(bool for_speed) const;

  const Device device_;
  const MatmulShape shape_;
  const DType dtype_;
  const bool tf32_;
  cublas::Operation operation_;
  cublas::Layout a_, b_, out_;
  cublas::Choice choice_;
};

}  // namespace keratin::cuda

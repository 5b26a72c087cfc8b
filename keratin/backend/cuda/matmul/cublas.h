#pragma once

#include <array>
#include <memory>
#include <vector>

#include "keratin/backend/cuda/driver/driver.h"
#include "keratin/tensor/dtype.h"

// The functions of cuBLASLt that are used, opened at run time, on the GPU that the caller has
// entered. Matrices are column-major.
namespace keratin::cuda::cublas {

bool available();
size_t version();

// Numbers of the library.
enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 14 };
inline constexpr int compute_f32 = 68, compute_f64 = 70, compute_tf32 = 77;
inline constexpr size_t alignment = 256;  // of the workspace

DataType data_type(DType dtype);

class Operation {
 public:
  Operation() = default;
  Operation(int compute, DataType scale, bool transpose_left, bool transpose_right);
  // After the matmul: one number is added to each row, then relu.
  void epilogue(bool bias, bool relu) const;
  void bias(const void* address) const;
  // Or the gradient of relu: zero where a bit is not set. Columns of bits are `stride` apart.
  void relu_grad(int64_t stride) const;
  void bits(const void* address) const;
  // Also computes one number per row of the result, the sum over the left factor's row; or one per
  // column, over the right factor's column; or, with a gradient of relu, over the row of the
  // result. Written to the address of the bias.
  void sum_left() const;
  void sum_right() const;
  void sum_relu_grad() const;
  void* get() const { return handle_.get(); }

 private:
  void set_epilogue(int kind) const;
  std::shared_ptr<void> handle_;
};

class Layout {
 public:
  Layout() = default;
  Layout(DataType type, int64_t rows, int64_t columns);
  void batch(int64_t count, int64_t stride) const;
  void* get() const { return handle_.get(); }
  DataType type() const { return type_; }

 private:
  std::shared_ptr<void> handle_;
  DataType type_ = DataType::f32;
};

// An algorithm, as the library describes it.
struct Choice {
  std::array<uint64_t, 8> algorithm{};
  size_t workspace_bytes = 0;
};

// The library's algorithms whose results are always the same and rounded once, best first; none for
// matmuls that it does not support. The alignments are those of the left factor, the right factor
// and the result.
std::vector<Choice> choices(const Operation& operation, const Layout& left, const Layout& right,
                            const Layout& out, const std::array<uint32_t, 3>& alignments);

// out = alpha · left · right + beta · addend, where the addend has the layout of `out` and may be
// the same memory.
void multiply(const Operation& operation, const void* alpha, const void* left,
              const Layout& left_layout, const void* right, const Layout& right_layout,
              const void* beta, const void* addend, void* out, const Layout& out_layout,
              const Choice& choice, void* workspace, StreamHandle stream);

}  // namespace keratin::cuda::cublas

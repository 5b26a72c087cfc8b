#pragma once

#include <optional>
#include <vector>

#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// The sizes of a matmul; the axes in front of the matrices are its batch.
struct MatmulSizes {
  int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  bool ta = false, tb = false;
  Shape batch_shape, batch_a, batch_b;

  explicit MatmulSizes(const Node& node);
};

// A matmul and what is fused to it, as cuBLASLt takes it, with the positions of its operands among
// the node's inputs.
struct MatmulJob {
  MatmulShape shape;
  size_t a = 0, b = 1;
  std::optional<size_t> bias = {}, addend = {};
  std::optional<size_t> gate = {};  // of a gradient of relu: kept where this is positive
  bool transposes_b = false;        // a preparation transposes b
  bool needs_loop = false;          // a loop computes what the library cannot

  // The same without its sum.
  MatmulJob alone() const {
    MatmulJob job = *this;
    job.shape.sum = MatmulSum::none;
    return job;
  }
};

// A matmul; nothing where cuBLASLt cannot take it, for the reason that `refuses_matmul` gives.
std::optional<MatmulJob> read_matmul(const Node& matmul);
std::optional<std::string> refuses_matmul(const Node& matmul);

// A fused node of kind "epilogue", read as relu(a · b + bias + addend), where the last three may be
// missing, or as (a · b + addend where a gate is positive, else 0); nothing when it is neither.
std::optional<MatmulJob> read_epilogue(const Node& node);

// The same with any pointwise ops: the matmul alone, with `needs_loop`.
std::optional<MatmulJob> read_any_epilogue(const Node& node);

// A fused node of kind "summed", whose results are such a matmul and a sum: of one of its factors,
// or of a gradient of relu.
std::optional<MatmulJob> read_summed(const Node& node);

// simple_matmul.cpp: includes kernels/simple_matmul.cu and defines its `sizes`.
std::string define_matmul(const MatmulShape& shape);
// What cuBLASLt reads besides the factors, in a preparation's memory: the bit mask for the gradient
// of relu, a bit for each positive element; bᵀ, from which more algorithms load several numbers at
// once.
Source write_bits(const Node& node, const MatmulJob& job);
Source write_transposed(const Node& node, const MatmulJob& job);

// thin_matmul.cpp: a kernel of our own, where one side of a matmul is short.
bool is_thin(const MatmulJob& job, DType dtype);
Source write_thin_matmul(const Node& node, const MatmulJob& job);

// tiled_matmul.cpp: kernels of our own, with all that follows, where the result is small and the
// depth is not. Tiles of `rows` · `columns`; the `splits` blocks of a cluster share a tile's depth.
struct Tiling {
  int64_t rows = 0, columns = 0, splits = 1;
  bool operator==(const Tiling&) const = default;
};
bool fits_tiles(const MatmulJob& job, DType dtype);
std::vector<Tiling> tilings_of(const MatmulJob& job, bool clusters);
std::string name_of(const Tiling& tiling);
Source write_tiled_matmul(const Node& node, const MatmulJob& job, const Tiling& tiling);
// The loop that computes the rest from the matmul, which is in the node's output.
Source write_loop_after(const Node& node);

}  // namespace keratin::cuda

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

// What a node asks of cuBLASLt, and which of the node's inputs are what.
struct Product {
  GemmShape shape;
  size_t a = 0, b = 1;
  std::optional<size_t> bias = {}, addend = {};
  std::optional<size_t> gate = {};  // of a gradient of relu: where this is positive
  bool turns_b = false;             // b is transposed before, into memory of its own
  bool goes_on = false;             // the node does more with it than the library can

  // The same without its sum.
  Product alone() const {
    Product product = *this;
    product.shape.sum = GemmSum::none;
    return product;
  }
};

// A matmul; nothing where cuBLASLt has no such product.
std::optional<Product> read_product(const Node& matmul);

// A fused node of kind "epilogue", read as relu(a · b + bias + addend), where the last three may be
// missing, or as (a · b + addend where something is positive, else 0); nothing when it is something
// else.
std::optional<Product> read_epilogue(const Node& node);

// The same of any pointwise ops: the product alone, which goes on with the rest.
std::optional<Product> read_any_epilogue(const Node& node);

// A fused node of kind "summed", whose results are such a product and a sum: of one of its factors,
// or of a gradient of relu.
std::optional<Product> read_summed(const Node& node);

// thin_matmul.cpp: a kernel of our own, where one side of a product is short.
bool is_thin(const Product& product, DType dtype);
Source make_thin_product(const Node& node, const Product& product);

// tiled_matmul.cpp: kernels of our own, with all that follows, where the result is small and what
// is added up is not. Tiles of so many rows and columns, each by several blocks of a cluster.
struct Tiling {
  int64_t rows = 0, columns = 0, parts = 1;
  bool operator==(const Tiling&) const = default;
};
bool fits_tiles(const Product& product, DType dtype);
std::vector<Tiling> tilings_of(const Product& product, bool clusters);
std::string name_of(const Tiling& tiling);
Source make_tiled_product(const Node& node, const Product& product, const Tiling& tiling);
// Does the rest, where the product lies in the node's result.
Source make_loop_after(const Node& node);

}  // namespace keratin::cuda

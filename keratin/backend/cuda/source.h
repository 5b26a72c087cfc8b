#pragma once

#include <array>
#include <optional>

#include "keratin/plan/backend.h"

// The text of kernels, written for one node with all sizes as numbers.
namespace keratin::cuda {

// What to launch for one node, in order. Every function takes the step's pointers p0, p1, …:
// inputs, outputs, scratch.
struct Source {
  struct Pass {
    std::string function;
    unsigned blocks = 1, block_rows = 1;      // blockIdx.x, blockIdx.y
    unsigned threads = 256, thread_rows = 1;  // threadIdx.x, threadIdx.y
    unsigned shared_bytes = 0;                // beside what the text declares
  };
  std::string name;  // for people
  std::string text;
  std::vector<Pass> passes;
  size_t scratch_bytes = 0;
  bool checks_indices = false;  // takes `fault` and `tag` too, see prelude.h

  // Which outputs may lie where an input does.
  struct InPlace {
    // An element of an input of this shape is read only where an output of it is written. Smaller
    // inputs are read by many threads, and smaller outputs written while others still read.
    std::optional<Shape> elementwise = {};
    bool grows_input = false;  // adds to input 0

    bool allows(const Node& node, size_t input, size_t output) const;
  };
  InPlace in_place;
};

inline constexpr unsigned block_size = 256;

// float, Half, int64_t, …: how elements are stored, and what arithmetic on them is done in.
std::string_view storage_type(DType dtype);
std::string_view compute_type(DType dtype);

// One number, in the type that arithmetic is done in.
std::string literal(DType dtype, double value);
std::string literal_of(const Tensor& scalar);

// Is 32-bit arithmetic enough for every position in the node's inputs and outputs, and for counting
// so many elements of something else?
std::string_view index_type(const Node& node, int64_t count = 0);

// base + Σ coordinate[axis] · strides[axis] for element `index` (an expression) of a row-major box.
std::string affine(const Dims& dims, const Dims& strides, int64_t base, const std::string& index);
// Coordinate `axis` of element `index` of a row-major box.
std::string coordinate(const Dims& dims, size_t axis, const std::string& index);
// The strides of an operand along the axes of a larger, broadcast shape: 0 where it repeats.
Dims broadcast_strides(const Shape& operand, const Shape& shape);

// How a function of a text is to be compiled.
struct FunctionTraits {
  // As many registers as so many threads of a block may have, where so many blocks work side by
  // side; 0 leaves it to the compiler.
  unsigned most_threads = 0, blocks = 1;
  unsigned cluster = 1;  // blocks that see each other's shared memory, from sm_90 on
};

// extern "C" __global__ void <name>(…) { body }
std::string function(const Node& node, const Source& source, const std::string& name,
                     const std::string& body, const FunctionTraits& traits = {});

// One thread per element of output 0: `body` computes element i. More text may stand in front.
Source element_kernel(const Node& node, const std::string& body, bool checks_indices = false);
// The same over `count` elements of something else.
Source element_kernel(const Node& node, int64_t count, const std::string& body,
                      bool checks_indices = false);

unsigned blocks_for(int64_t count);

}  // namespace keratin::cuda

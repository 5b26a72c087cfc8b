#pragma once

#include <array>
#include <optional>
#include <ostream>

#include "keratin/ir/operands.h"
#include "keratin/plan/backend.h"

// The source of kernels, written for one node with all sizes as numbers.
namespace keratin::cuda {

// The source code of a node's kernels, and how they are launched. Every function takes the step's
// pointers p0, p1, …: inputs, outputs, scratch memory.
struct Source {
  // One launch of a function; they run in order.
  struct Launch {
    std::string function;
    unsigned blocks = 1, block_rows = 1;      // blockIdx.x, blockIdx.y
    unsigned threads = 256, thread_rows = 1;  // threadIdx.x, threadIdx.y
    unsigned shared_bytes = 0;                // besides what the code declares
  };
  std::string name;  // for people
  std::string code;
  std::vector<Launch> launches;
  size_t scratch_bytes = 0;
  bool checks_indices = false;  // functions take `fault` and `tag` too, see kernels/prelude.cu

  // Which outputs may be written over an input.
  struct InPlace {
    // An element of an input of this shape is read only by the thread that writes the same element
    // of an output. Smaller inputs are read by many threads, and smaller outputs are written while
    // other threads still read.
    std::optional<Shape> elementwise = {};
    bool adds_to_first_input = false;

    bool allows(const Node& node, size_t input, size_t output) const;
  };
  InPlace in_place;
};

inline constexpr unsigned block_size = 256;

// An argument of a kernel's function. `text` writes its name: p0, p1, … for the step's pointers in
// their order, and nullptr where the operand is absent.
struct Argument {
  static constexpr size_t absent = static_cast<size_t>(-1);
  size_t index = absent;  // among the step's pointers

  explicit operator bool() const { return index != absent; }
};
std::ostream& operator<<(std::ostream& out, const Argument& argument);

}  // namespace keratin::cuda

namespace keratin {

template <>
class OperandReader<cuda::Argument> {
 public:
  explicit OperandReader(const Node& node) : node_(node) {}

  const Node& node() const { return node_; }
  cuda::Argument input() { return {input_++}; }
  cuda::Argument input_if(bool present) { return present ? input() : cuda::Argument(); }
  cuda::Argument optional_input() { return input_if(input_ < node_.input_count()); }
  std::vector<cuda::Argument> other_inputs() {
    std::vector<cuda::Argument> rest;
    while (input_ < node_.input_count()) rest.push_back(input());
    return rest;
  }
  cuda::Argument output() { return {node_.input_count() + output_++}; }
  std::vector<cuda::Argument> other_outputs() {
    std::vector<cuda::Argument> rest;
    while (output_ < node_.output_count()) rest.push_back(output());
    return rest;
  }
  cuda::Argument output_if(bool present) { return present ? output() : cuda::Argument(); }

 private:
  const Node& node_;
  size_t input_ = 0, output_ = 0;
};

}  // namespace keratin

namespace keratin::cuda {

// The arguments for a node's operands, by name: `arguments<ops::GatherOperands>(node).indices`.
template <template <class> class Operands>
Operands<Argument> arguments(const Node& node) {
  return Operands<Argument>::read(OperandReader<Argument>(node));
}
// The step's scratch memory: the argument behind the outputs.
inline Argument scratch_argument(const Node& node) {
  return {node.input_count() + node.output_count()};
}

// float, Half, int64_t, …: how elements are stored, and the type that arithmetic on them is done
// in.
std::string_view storage_type(DType dtype);
std::string_view compute_type(DType dtype);

// One number, in the type that arithmetic is done in.
std::string literal(DType dtype, double value);
std::string literal_of(const Tensor& scalar);

// The integer type for positions in the node's inputs and outputs, and for counting `count`
// elements of something else: int where 32 bits are enough.
std::string_view index_type(const Node& node, int64_t count = 0);

// Σ coordinate[axis] · strides[axis] for element i of a row-major box, in as few terms as possible:
// Σ (i / inner % size) · stride, without the remainder where size is 0.
struct AffineTerm {
  int64_t inner, size, stride;
};
std::vector<AffineTerm> affine_terms(const Dims& dims, const Dims& strides);
// The same behind `base`, for element `index`, an expression.
std::string affine(const Dims& dims, const Dims& strides, int64_t base, const std::string& index);
// The strides of an operand along the axes of a larger, broadcast shape: 0 where it repeats.
Dims broadcast_strides(const Shape& operand, const Shape& shape);

// How a function is compiled.
struct FunctionTraits {
  // __launch_bounds__: threads of a block, and blocks that a processor runs at the same time; 0
  // threads leave it to the compiler.
  unsigned max_threads = 0, blocks = 1;
  unsigned cluster = 1;  // blocks that can read each other's shared memory, from sm_90 on
};

// extern "C" __global__ void <name>(…) { body }
std::string function(const Node& node, const Source& source, const std::string& name,
                     const std::string& body, const FunctionTraits& traits = {});

// One thread per element of the first output: `body` computes element i.
Source element_kernel(const Node& node, const std::string& body, bool checks_indices = false);
// The same over `count` elements of something else.
Source element_kernel(const Node& node, int64_t count, const std::string& body,
                      bool checks_indices = false);

// The same by a function of a file of kernels/, which `definitions` includes: it is called with the
// count of elements, the operands and, where indices are checked, `fault` and `tag`.
struct ElementCall {
  std::string definitions, function, operands;
  bool checks_indices = false;
};
Source element_kernel(const Node& node, int64_t count, const ElementCall& call);

// The line that includes a file of kernels/.
std::string include_of(std::string_view file);

unsigned blocks_for(int64_t count);

}  // namespace keratin::cuda

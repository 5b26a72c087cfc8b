#pragma once

#include <optional>

#include "keratin/backend/cuda/source.h"
#include "keratin/ops/conv.h"

namespace keratin::cuda {

enum class ConvKind { forward, grad_input, grad_filter };

// What a step does after a convolution: y = relu(conv · scale + shift + added), each part optional.
struct ConvEpilogue {
  std::string scale, shift;  // text, of output channel `o`
  std::optional<size_t> added;
  bool relu = false;
};

// A step that is a convolution, a gradient of one, or a fused region that one leads; the places of
// its tensors among the step's pointers.
struct ConvJob {
  const Node& node;
  const Node& conv;
  ConvKind kind;
  size_t x, w, y;
  std::optional<ConvEpilogue> epilogue = {};

  size_t scratch() const { return node.input_count() + node.output_count(); }
  DType dtype() const { return node.type().dtype; }
  const Type& type_of(size_t place) const {
    return place < node.input_count() ? node.in(place).type() : node.type();
  }
};
std::optional<ConvJob> conv_job(const Node& node);

// Will there be a kernel for this fused region?
bool claims_conv_epilogue(const Node& node);

// A convolution or one of its gradients by the library that is fastest: cuDNN, or cuBLASLt.
// nullptr for other nodes, and where neither can do it.
std::unique_ptr<Kernel> make_conv_step(const Node& node, const KernelOptions& options);

// im2col.cpp: the inputs under each window gathered into a matrix, and a product; nullptr
// where there are groups or the matrix is too large.
bool fits_windows(const ops::ConvGeometry& g);
Source windows_text(const ConvJob& job);  // from the input, or to it
std::unique_ptr<Kernel> make_conv_of_windows(const ConvJob& job, const KernelOptions& options);
// Each window is one input, in order: the input itself is that matrix.
bool reads_input_in_order(const ops::ConvGeometry& g);

// conv_direct.cpp: one kernel of our own, for windows over few numbers; no gradients of inputs.
bool fits_direct(const ConvJob& job);
Source make_conv_direct(const ConvJob& job);

}  // namespace keratin::cuda

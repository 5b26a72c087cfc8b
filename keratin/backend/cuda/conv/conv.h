#pragma once

#include <optional>

#include "keratin/backend/cuda/source.h"
#include "keratin/ops/conv.h"

namespace keratin::cuda {

enum class ConvKind { forward, grad_input, grad_filter };

// What a step does after a convolution: y = relu(conv · scale + shift + added), each part optional.
struct ConvEpilogue {
  std::string scale, shift;  // expressions of output channel `o`
  std::optional<size_t> added;
  bool relu = false;

  // What follows conv · scale, for element `at` of the result in channel `o`.
  std::string after(std::string scaled, std::string_view at) const;
};

// A step that is a convolution, a gradient of one, or a fused region that one leads, with the
// positions of its tensors among the step's pointers.
struct ConvJob {
  const Node& node;
  const Node& conv;
  ConvKind kind;
  size_t x, w, y;
  std::optional<ConvEpilogue> epilogue = {};

  size_t scratch() const { return node.input_count() + node.output_count(); }
  DType dtype() const { return node.type().dtype; }
  const Type& type_of(size_t index) const {
    return index < node.input_count() ? node.in(index).type() : node.type();
  }
};
std::optional<ConvJob> conv_job(const Node& node);

// im2col.cpp: the inputs under each window are gathered into a matrix, and multiplied. The reason
// why that cannot be done: groups, or a matrix that is too large.
std::optional<std::string> refuses_im2col(const ops::ConvGeometry& g);
Source write_im2col(const ConvJob& job);  // from the input, or to it
std::unique_ptr<Kernel> make_im2col(const ConvJob& job, const KernelOptions& options);
// True if each window is one input, in order: the input itself is that matrix.
bool reads_input_in_order(const ops::ConvGeometry& g);

// conv_direct.cpp: a kernel of our own, for windows over few numbers; not for gradients of inputs.
bool fits_direct(const ConvJob& job);
Source write_direct_conv(const ConvJob& job);

}  // namespace keratin::cuda

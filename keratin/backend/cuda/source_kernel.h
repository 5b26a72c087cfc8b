#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// A node in the text form of a module: its inputs, as in "%x: f32[3,768]", and the node itself,
// whose first output is %y.
struct NodeExample {
  std::string_view inputs, node;
};

// The record of a kernel of this backend.
struct CudaKernel : KernelDef {
  // Writes the source that `make` compiles; nullptr for kernels of libraries.
  Source (*write)(const Node&, const KernelOptions&) = nullptr;
  // A node that it runs. Tests compile its source where there is no GPU.
  NodeExample example = {};
};

// A node's source, compiled for its device and ready to be launched.
std::unique_ptr<Kernel> compile_kernel(const Node& node, const Source& source);

// For records of kernels that are compiled from source. `writer` takes a node, and KernelOptions
// where it needs them.
template <auto writer>
Source write_source(const Node& node, const KernelOptions& options) {
  if constexpr (std::is_invocable_v<decltype(writer), const Node&>)
    return writer(node);
  else
    return writer(node, options);
}
template <auto writer>
Offer make_from_source(const Node& node, const KernelOptions& options) {
  return {.kernel = compile_kernel(node, write_source<writer>(node, options))};
}
template <auto writer>
constexpr CudaKernel source_kernel(KernelDef def, NodeExample example) {
  def.make = make_from_source<writer>;
  return {def, write_source<writer>, example};
}

}  // namespace keratin::cuda

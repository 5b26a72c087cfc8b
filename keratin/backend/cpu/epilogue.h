#pragma once

#include <optional>
#include <vector>

#include "keratin/backend/cpu/jit/loop_program.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/backend/cpu/tile/tile_kernel.h"

namespace keratin::cpu {

// A fused region of kind "epilogue", read as a product, what its tiles do to it in registers, and a
// loop over the rest, run on each tile while it is in the cache. Inputs are those of the fused
// node.
struct Epilogue {
  const Node* product = nullptr;
  size_t first = 0, second = 0;     // the inputs that the product reads
  const Node* transpose = nullptr;  // of the result, if the product is all there is
  std::vector<TilePost> post;
  std::optional<size_t> bias, addend, gate;
  double scale = 1;
  // Rows x columns of the result; its first input and its output are the result itself.
  std::optional<LoopProgram> loop;
  std::vector<size_t> loop_inputs;  // what its other inputs are
};

// Nothing, and the reason, when it is not what we can do.
std::optional<Epilogue> read_epilogue(const Node& fused, std::string& reason);

// A matmul or convolution with its epilogue as one kernel.
Offer make_epilogue(const Node& node, const KernelOptions& options);
bool claims_epilogue(const Node& node);

}  // namespace keratin::cpu

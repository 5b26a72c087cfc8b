#pragma once

#include <optional>
#include <vector>

#include "keratin/backend/cpu/jit/loop_program.h"
#include "keratin/backend/cpu/tile/tile_kernel.h"
#include "keratin/ir/node.h"

namespace keratin::cpu {

// A fused region of kind "epilogue", read as a matmul or convolution, what its tiles do to it in
// registers, and a loop over the rest, run on each tile while it is in the cache. Inputs are those
// of the fused node.
struct Epilogue {
  const Node* root = nullptr;       // the matmul or convolution
  size_t first = 0, second = 0;     // the inputs that it reads
  const Node* transpose = nullptr;  // of the result, if there is nothing else
  std::vector<TilePost> post;
  std::optional<size_t> bias, addend, gate;
  double scale = 1, cap = 0;
  // Rows x columns of the result; its first input and its output are the result itself.
  std::optional<LoopProgram> loop;
  std::vector<size_t> loop_inputs;  // what its other inputs are
};

// Empty, with the reason, if the region has another form.
std::optional<Epilogue> read_epilogue(const Node& fused, std::string& reason);

}  // namespace keratin::cpu

#pragma once

#include <array>
#include <bitset>
#include <cstdint>

namespace keratin::cpu {

inline constexpr int max_loop_pointers = 256;

// The innermost two dims of a nest, from `rows` and `columns` on: what generated code and the
// interpreter run. Accumulators are folded into, not overwritten. The callee may move the pointers.
struct LoopBlock {
  int64_t rows = 0;
  int64_t columns = 0;
  std::array<char*, max_loop_pointers> pointers;
  // Pointers of outputs nobody wants; only the interpreter looks.
  std::bitset<max_loop_pointers> skipped;
};

using BlockFunction = void (*)(LoopBlock* block);

}  // namespace keratin::cpu

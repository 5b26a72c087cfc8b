#pragma once

#include <array>
#include <bitset>
#include <cstdint>

namespace keratin::cpu {

inline constexpr int max_loop_pointers = 256;

// The arguments of a block function: a part of the innermost two dims of a nest. Generated code and
// the interpreter fold into accumulators that are already initialised, and may change the pointers.
struct LoopBlock {
  int64_t rows = 0;
  int64_t columns = 0;
  const int64_t* row_strides = nullptr;  // bytes from one row to the next, of each pointer
  std::array<char*, max_loop_pointers> pointers;
  // Outputs that are not needed; only the interpreter supports these.
  std::bitset<max_loop_pointers> skipped;
};

using BlockFunction = void (*)(LoopBlock* block);

}  // namespace keratin::cpu

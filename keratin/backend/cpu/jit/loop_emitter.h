#pragma once

#include "keratin/backend/cpu/jit/accumulators.h"
#include "keratin/backend/cpu/jit/loop_kernel.h"

namespace keratin::cpu {

// Writes the machine code of one nest:
//
//   values that depend on no row
//   for each row:
//     values that depend on no column
//     for each vector of columns: load, compute, fold into accumulators, store
//
// All values have the same number of lanes: 16 or 8 with AVX-512, 8 or 4 with AVX2. The lower
// number is used if the program has 64-bit values; their registers are then twice as wide as those
// of 32-bit values. An operation without machine code calls the interpreter's function for one
// vector.
//
// This class writes the loops. The layers below it are Assembler (registers, constants, the stack
// frame), RegisterAllocator, LaneAssembler (operations on registers), ArrayAddresses, BodyEmitter
// (the program's instructions) and Accumulators (its reductions).
class LoopEmitter {
 public:
  LoopEmitter(const LoopNest& nest, LoopIsa isa, bool stream, std::vector<uint8_t>& buffer);

  // The size of the code, at the start of the buffer.
  size_t emit();

 private:
  void choose_copies();
  void emit_rows();
  void emit_columns();
  void emit_column_loop(int copies);
  void emit_vector(int copy, bool tail);

  const LoopNest& nest_;
  const LoopAnalysis analysis_;
  const bool stream_;
  LaneAssembler code_;
  ArrayAddresses arrays_;
  BodyEmitter body_;
  Accumulators accumulators_;
  int unroll_ = 1;
  // Rows of a few vectors are written out instead of looped over: so many full vectors, and so many
  // elements in one more.
  bool short_rows_ = false;
  int row_vectors_ = 0, row_rest_ = 0;
};

}  // namespace keratin::cpu

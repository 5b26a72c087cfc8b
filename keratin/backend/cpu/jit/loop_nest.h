#pragma once

#include <vector>

#include "keratin/backend/cpu/jit/loop_program.h"

namespace keratin::cpu {

// An array that a loop walks: an input, a stored output, or the accumulators of a reduction.
struct LoopPointer {
  DType dtype = DType::f32;
  LoopDims strides{};  // in bytes

  bool operator==(const LoopPointer&) const = default;
};

// A program ready to run: without dead code, with at least two dims (rows and columns), and with
// adjacent dims merged where every array allows it.
struct LoopNest {
  LoopProgram program;
  std::vector<LoopPointer> pointers;  // of the inputs, then of the outputs
  // Of each output: whether one row of a block gives a whole reduced element, which is then stored
  // without reading what was there.
  std::vector<bool> overwrites;
  // Whether blocks span whole rows.
  bool whole_rows = true;
  // Whether code reads from its block how far apart rows are; if not, it is part of the code.
  bool strides_in_block = false;

  int64_t columns() const { return program.dims[static_cast<size_t>(program.rank - 1)]; }
  int64_t rows() const;  // of all dims but the last
  const LoopPointer& output_pointer(size_t output) const {
    return pointers[program.inputs.size() + output];
  }
  // Bytes from one column, or from one row of the innermost two dims, to the next.
  int64_t column_stride(size_t pointer) const {
    return pointers[pointer].strides[static_cast<size_t>(program.rank - 1)];
  }
  int64_t row_stride(size_t pointer) const {
    return pointers[pointer].strides[static_cast<size_t>(program.rank - 2)];
  }
  std::vector<int64_t> row_strides() const;  // of all pointers

  bool operator==(const LoopNest&) const = default;
};

// With `contract`, a product that is used once, by a sum, becomes a fused multiply-add.
LoopNest make_nest(LoopProgram program, bool contract);

// Sums of half types accumulate in float, of small integers in i32; booleans are 0 and -1 in i32.
DType accumulator_dtype(DType value);

}  // namespace keratin::cpu

#include "keratin/backend/cpu/epilogue_loop.h"

namespace keratin::cpu {

EpilogueLoop::EpilogueLoop(const LoopProgram& program) : nest_(make_nest(program, true)) {
  // Blocks are parts of rows, so rows and columns stay apart even where they could be merged.
  nest_.whole_rows = false;
  nest_.program.rank = 2;
  nest_.program.dims = program.dims;
  for (size_t i = 0; i < nest_.pointers.size(); ++i) {
    LoopPointer& pointer = nest_.pointers[i];
    const auto size = static_cast<int64_t>(size_of(pointer.dtype));
    const bool output = i >= program.inputs.size();
    const LoopDims whole{program.dims[1], 1};
    const LoopDims& strides = output ? whole : program.inputs[i].strides;
    pointer.strides = {strides[0] * size, strides[1] * size};
  }
  code_ = generate(nest_, best_loop_isa(), false);
  if (!code_) interpreter_.emplace(nest_);
}

void EpilogueLoop::run(char* const* arrays, int64_t row, int64_t rows, int64_t column,
                       int64_t columns) const {
  LoopBlock block;
  block.rows = rows;
  block.columns = columns;
  for (size_t i = 0; i < nest_.pointers.size(); ++i) {
    block.pointers[i] = arrays[i] + row * nest_.row_stride(i) + column * nest_.column_stride(i);
  }
  if (code_) {
    code_.function()(&block);
  } else {
    interpreter_->run(block);
  }
}

}  // namespace keratin::cpu

#include "keratin/backend/cpu/epilogue_loop.h"

namespace keratin::cpu {

EpilogueLoop::EpilogueLoop(const LoopProgram& program) : nest_(make_nest(program, true)) {
  // Blocks cut rows, so rows and columns stay apart even where they could be merged.
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
  row_strides_ = nest_.row_strides();
  code_ = generate(nest_, best_loop_isa(), false);
  if (!code_) interpreter_.emplace(nest_);
}

void EpilogueLoop::run(char* const* arrays, int64_t row, int64_t rows, int64_t column,
                       int64_t columns) const {
  LoopBlock block;
  block.rows = rows;
  block.columns = columns;
  block.row_strides = row_strides_.data();
  for (size_t i = 0; i < nest_.pointers.size(); ++i) {
    block.pointers[i] = arrays[i] + row * nest_.row_stride(i) + column * nest_.column_stride(i);
  }
  if (code_) {
    code_.function()(&block);
  } else {
    interpreter_->run(block);
  }
}

void EpilogueLoop::fetch(char* const* arrays, int64_t row, int64_t rows, int64_t column,
                         int64_t columns) const {
  constexpr int64_t line = 64;
  for (size_t i = 1; i < input_count(); ++i) {
    const int64_t row_stride = nest_.row_stride(i), column_stride = nest_.column_stride(i);
    if (row_stride == 0 || column_stride == 0) continue;  // repeated, so it is in the cache
    const char* first = arrays[i] + row * row_stride + column * column_stride;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t byte = 0; byte < columns * column_stride; byte += line)
        __builtin_prefetch(first + r * row_stride + byte);
  }
}

}  // namespace keratin::cpu

#include "keratin/backend/cpu/jit/loop_emitter.h"

namespace keratin::cpu {

namespace {

constexpr int64_t short_row_vectors = 4;

VectorShape shape_of(LoopIsa isa, const LoopAnalysis& analysis) {
  return {.evex = isa == LoopIsa::avx512, .lanes = analysis.lanes};
}

}  // namespace

LoopEmitter::LoopEmitter(const LoopNest& nest, LoopIsa isa, bool stream,
                         std::vector<uint8_t>& buffer)
    : nest_(nest),
      analysis_(analyse(nest, isa == LoopIsa::avx512)),
      stream_(stream),
      code_(shape_of(isa, analysis_), buffer),
      arrays_(nest, analysis_.calls, code_),
      body_(nest, analysis_, code_, arrays_),
      accumulators_(nest, analysis_, code_, arrays_, body_) {}

// Short bodies are repeated to hide the latency of accumulators and the cost of the loop.
void LoopEmitter::choose_copies() {
  const int lanes = code_.lanes();
  short_rows_ = nest_.whole_rows && nest_.columns() <= short_row_vectors * lanes && !stream_;
  if (short_rows_) {
    row_vectors_ = static_cast<int>(nest_.columns()) / lanes;
    row_rest_ = static_cast<int>(nest_.columns()) % lanes;
    return;
  }
  int work = 0;
  for (const LoopValue& v : analysis_.values) work += v.level == LoopLevel::column;
  unroll_ = analysis_.calls ? 1 : work <= 8 ? 4 : work <= 20 ? 2 : 1;
  int row_folds = 0;
  for (size_t i = 0; i < nest_.program.outputs.size(); ++i)
    row_folds += nest_.program.outputs[i].reduce != Reduce::none &&
                 nest_.column_stride(nest_.program.inputs.size() + i) == 0;
  while (unroll_ > 1 && row_folds * unroll_ > max_accumulators(code_.evex())) unroll_ /= 2;
}

size_t LoopEmitter::emit() {
  choose_copies();
  const bool row_tail = row_rest_ > 0;
  accumulators_.reserve({unroll_, row_vectors_ + row_tail, row_tail});
  code_.set_tail(arrays_.index(), arrays_.columns());
  if (short_rows_) code_.set_tail(row_rest_);
  body_.make_call_slots();
  code_.open();
  arrays_.load();
  emit_rows();
  if (stream_) code_.sfence();
  code_.leave();
  return code_.close();
}

void LoopEmitter::emit_rows() {
  Xbyak::Label next_row;
  code_.xor_(arrays_.index(), arrays_.index());
  if (row_rest_ > 0) code_.begin_tail(analysis_.calls);
  body_.emit_level(LoopLevel::call);
  accumulators_.clear(false);
  accumulators_.load_columns();
  code_.L(next_row);
  const int slots = code_.slot_mark();
  body_.emit_level(LoopLevel::row);
  accumulators_.clear(true);
  emit_columns();
  code_.forget_registers();
  accumulators_.finish(true);
  code_.free_slots(slots);
  arrays_.advance();
  code_.dec(arrays_.rows());
  code_.jnz(next_row, Xbyak::CodeGenerator::T_NEAR);
  accumulators_.finish(false);
  accumulators_.store_columns();
}

void LoopEmitter::emit_columns() {
  if (short_rows_) {
    for (int i = 0; i < row_vectors_; ++i) emit_vector(i, false);
    if (row_rest_ > 0) emit_vector(row_vectors_, true);
    return;
  }
  Xbyak::Label done;
  code_.xor_(arrays_.index(), arrays_.index());
  emit_column_loop(unroll_);
  if (unroll_ > 1) emit_column_loop(1);
  code_.cmp(arrays_.index(), arrays_.columns());
  code_.je(done, Xbyak::CodeGenerator::T_NEAR);
  code_.begin_tail(analysis_.calls);
  emit_vector(0, true);
  code_.L(done);
}

// While there are `copies` vectors left.
void LoopEmitter::emit_column_loop(int copies) {
  const Reg64 &index = arrays_.index(), &columns = arrays_.columns();
  const int step = copies * code_.lanes();
  Xbyak::Label start, end;
  code_.lea(code_.rdx, code_.ptr[index + step]);
  code_.cmp(code_.rdx, columns);
  code_.jg(end, Xbyak::CodeGenerator::T_NEAR);
  code_.align(16);
  code_.L(start);
  for (int copy = 0; copy < copies; ++copy) emit_vector(copy, false);
  code_.add(index, static_cast<uint32_t>(step));
  code_.lea(code_.rdx, code_.ptr[index + step]);
  code_.cmp(code_.rdx, columns);
  code_.jle(start, Xbyak::CodeGenerator::T_NEAR);
  code_.L(end);
}

// One vector of columns. Everything is read before anything is written, as an output may be the
// array of an input.
void LoopEmitter::emit_vector(int copy, bool tail) {
  const int slots = code_.slot_mark();
  const LoopProgram& program = nest_.program;
  body_.emit_columns(copy, tail);
  for (const LoopOutput& out : program.outputs) {
    body_.use(out.value);
    code_.unpin();
  }
  accumulators_.fold_outputs(copy, tail);
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const LoopOutput& out = program.outputs[i];
    if (out.reduce != Reduce::none) continue;
    const Xmm value = body_.use(out.value);
    code_.store_vector(arrays_.element(program.inputs.size() + i, copy), out.dtype, value, tail,
                       stream_);
    code_.release_temps();
  }
  code_.free_slots(slots);
}

}  // namespace keratin::cpu

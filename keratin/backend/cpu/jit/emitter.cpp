#include "keratin/backend/cpu/jit/emitter.h"

#include <algorithm>
#include <cstring>

#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {
constexpr int evex_accumulators = 8, vex_accumulators = 4;  // registers given to reductions
constexpr int short_row_vectors = 4;
}  // namespace

Emitter::Emitter(const LoopNest& nest, LoopIsa isa, bool stream, std::vector<uint8_t>& buffer)
    : CodeGenerator(buffer.size(), buffer.data()),
      nest_(nest),
      program_(nest.program),
      evex_(isa == LoopIsa::avx512),
      stream_(stream) {}

// Levels, users and lanes of all values, and whether anything calls out.
void Emitter::analyse() {
  const auto inputs = static_cast<int>(program_.inputs.size());
  const int count = program_.value_count();
  values_.resize(count);
  bool wide = false;
  for (int id = 0; id < count; ++id) {
    Value& v = values_[id];
    v.dtype = program_.dtype_of(id);
    v.lane = lane_of(v.dtype);
    wide |= is_wide(v.lane);
    if (id < inputs) {
      v.level = nest_.column_stride(id) != 0 ? Level::column
                : nest_.row_stride(id) != 0  ? Level::row
                                             : Level::call;
      continue;
    }
    const LoopInst& inst = program_.inst(id);
    v.level = inst.op == ScalarOp::constant ? Level::constant : Level::call;
    for (int i = 0; i < operand_count(inst.op); ++i) {
      Value& arg = values_[inst.args[i]];
      v.level = std::max(v.level, arg.level);
      arg.users.push_back(id);
    }
    calls_ |= calls_out(program_, inst, evex_);
  }
  for (const LoopOutput& out : program_.outputs) values_[out.value].users.push_back(count);
  lanes_ = (evex_ ? 16 : 8) / (wide ? 2 : 1);
  slot_bytes_ = evex_ ? 64 : 32;
  owner_.resize(evex_ ? 32 : 16);
  if (evex_) fold_compares();
  for (Value& v : values_) std::sort(v.users.begin(), v.users.end());
}

// A comparison used once, by a select, is made there: its operands live until then.
void Emitter::fold_compares() {
  for (int id = static_cast<int>(program_.inputs.size()); id < program_.value_count(); ++id) {
    Value& v = values_[id];
    const LoopInst& inst = program_.inst(id);
    if (!is_comparison(inst.op) || v.users.size() != 1 || v.users[0] == program_.value_count())
      continue;
    const int user = v.users[0];
    const LoopInst& select = program_.inst(user);
    if (select.op != ScalarOp::select || select.args[0] != id || select.args[1] == id ||
        select.args[2] == id || values_[user].level != v.level)
      continue;
    v.folded = true;
    for (int i = 0; i < 2; ++i)
      std::replace(values_[inst.args[i]].users.begin(), values_[inst.args[i]].users.end(), id,
                   user);
  }
}

// Short bodies are repeated to hide the latency of accumulators and the cost of the loop.
void Emitter::choose_unroll() {
  short_rows_ = nest_.whole_rows && nest_.columns() <= short_row_vectors * lanes_ && !stream_;
  if (short_rows_) {
    row_vectors_ = static_cast<int>(nest_.columns()) / lanes_;
    row_rest_ = static_cast<int>(nest_.columns()) % lanes_;
    unroll_ = 1;
    return;
  }
  int work = 0;
  for (const Value& v : values_) work += v.level == Level::column;
  unroll_ = calls_ ? 1 : work <= 8 ? 4 : work <= 20 ? 2 : 1;
  int row_folds = 0;
  for (size_t i = 0; i < program_.outputs.size(); ++i)
    row_folds += program_.outputs[i].reduce != Reduce::none &&
                 nest_.column_stride(program_.inputs.size() + i) == 0;
  const int most = evex_ ? evex_accumulators : vex_accumulators;
  while (unroll_ > 1 && row_folds * unroll_ > most) unroll_ /= 2;
}

// Sums over columns; and, where rows are short, sums over rows, which else are in memory.
void Emitter::reserve_accumulators() {
  int next = static_cast<int>(owner_.size());
  int left = evex_ ? evex_accumulators : vex_accumulators;
  for (const bool columns : {false, true}) {
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      const LoopOutput& out = program_.outputs[i];
      const size_t pointer = program_.inputs.size() + i;
      const bool per_row = nest_.row_stride(pointer) != 0;
      if (out.reduce == Reduce::none || (nest_.column_stride(pointer) != 0) != columns) continue;
      const int needed = columns ? row_vectors_ + (row_rest_ > 0) : unroll_;
      if (columns && (!short_rows_ || per_row || needed > left)) continue;
      left -= needed;
      Accumulator a{i, pointer, out.reduce, values_[out.value].lane, per_row, columns, {}};
      for (int k = 0; k < needed; ++k) a.registers.push_back(--next);
      accumulators_.push_back(std::move(a));
    }
  }
}

// General registers. A program that calls out keeps everything where calls preserve it.
void Emitter::assign_pointers() {
  block_ = calls_ ? rbx : rdi;
  index_ = calls_ ? r12 : rcx;
  columns_ = calls_ ? r13 : rsi;
  rows_ = calls_ ? r14 : r8;
  std::vector<Reg64> pool{r15};
  if (!calls_) pool = {r9, r10, r11, rbx, r12, r13, r14, r15};
  pointer_registers_.resize(nest_.pointers.size());
  size_t next = 0;
  for (const bool columns : {true, false})
    for (size_t i = 0; i < nest_.pointers.size() && next < pool.size(); ++i)
      if ((nest_.column_stride(i) != 0) == columns) pointer_registers_[i] = pool[next++];
}

size_t Emitter::emit() {
  analyse();
  choose_unroll();
  reserve_accumulators();
  assign_pointers();
  saved_rsp_slot_ = new_slot();
  tail_slot_ = new_slot();
  wide_tail_slot_ = new_slot();
  call_slots_ = slots_;
  if (calls_)
    for (int i = 0; i < 4; ++i) new_slot();
  saved_slots_ = slots_;
  if (calls_)
    for (const Accumulator& a : accumulators_)
      for (size_t i = 0; i < a.registers.size(); ++i) new_slot();
  enter();
  emit_rows();
  leave();
  return append_pool();
}

void Emitter::enter() {
  for (const Reg64& reg : saved_registers) push(Reg64(reg));
  mov(rax, rsp);
  and_(rsp, -64);
  sub(rsp, 0x7fffffff);
  frame_patch_ = getSize() - 4;
  mov(slot_address(saved_rsp_slot_), rax);
  lea(rbp, ptr[rip + 0x7fffffff]);
  pool_patch_ = getSize() - 4;
  if (calls_) mov(block_, rdi);
  mov(rows_, ptr[block_ + int(offsetof(LoopBlock, rows))]);
  mov(columns_, ptr[block_ + int(offsetof(LoopBlock, columns))]);
  for (size_t i = 0; i < nest_.pointers.size(); ++i)
    if (pointer_registers_[i]) mov(*pointer_registers_[i], ptr[block_ + pointer_offset(i)]);
}

void Emitter::leave() {
  if (stream_) sfence();
  vzeroupper();
  mov(rsp, slot_address(saved_rsp_slot_));
  for (size_t i = saved_registers.size(); i-- > 0;) pop(Reg64(saved_registers[i]));
  ret();
}

// The constants follow the code; the frame's size and their distance are known only now.
size_t Emitter::append_pool() {
  align(64);
  rewrite(frame_patch_, static_cast<uint64_t>((max_slots_ * slot_bytes_ + 63) / 64 * 64), 4);
  rewrite(pool_patch_, getSize() - (pool_patch_ + 4), 4);
  for (uint8_t byte : pool_) db(byte);
  return getSize();
}

void Emitter::emit_rows() {
  Xbyak::Label next_row;
  xor_(index_, index_);
  if (row_rest_ > 0) begin_tail();
  emit_level(Level::call);
  clear_accumulators(false);
  move_columns(true);
  L(next_row);
  const int slots = slots_;
  emit_level(Level::row);
  clear_accumulators(true);
  emit_columns();
  forget_registers();
  finish_accumulators(true);
  slots_ = slots;
  advance_pointers();
  dec(rows_);
  jnz(next_row, T_NEAR);
  finish_accumulators(false);
  move_columns(false);
}

// Values of the level move to the stack: the loops within may need every register.
void Emitter::emit_level(Level level) {
  forget_registers();
  emitting_ = level;
  copy_ = 0, tail_ = false;
  for (int id = 0; id < program_.value_count(); ++id) {
    Value& v = values_[id];
    if (v.level != level || v.users.empty()) continue;
    position_ = id;
    v.home = -1;
    if (program_.is_input(id)) {
      load_input(id, 0, false);
    } else if (v.folded) {
      continue;
    } else {
      emit_inst_body(id);
    }
    spill(id);
    end_instruction();
  }
}

void Emitter::emit_columns() {
  if (short_rows_) {
    for (int i = 0; i < row_vectors_; ++i) emit_vector(i, false);
    if (row_rest_ > 0) emit_vector(row_vectors_, true);
    return;
  }
  const auto loop = [&](int copies) {
    Xbyak::Label start, end;
    lea(rdx, ptr[index_ + copies * lanes_]);
    cmp(rdx, columns_);
    jg(end, T_NEAR);
    align(16);
    L(start);
    for (int copy = 0; copy < copies; ++copy) emit_vector(copy, false);
    add(index_, copies * lanes_);
    lea(rdx, ptr[index_ + copies * lanes_]);
    cmp(rdx, columns_);
    jle(start, T_NEAR);
    L(end);
  };
  Xbyak::Label done;
  xor_(index_, index_);
  loop(unroll_);
  if (unroll_ > 1) loop(1);
  cmp(index_, columns_);
  je(done, T_NEAR);
  begin_tail();
  emit_vector(0, true);
  L(done);
}

// How many elements are left over, into rdx.
void Emitter::count_remaining() {
  if (short_rows_) return mov(edx, row_rest_);
  mov(rdx, columns_);
  sub(rdx, index_);
}

// Masks for the elements left over, fewer than a vector.
void Emitter::begin_tail() {
  count_remaining();
  if (evex_) {
    mov(eax, -1);
    bzhi(eax, eax, edx);
    kmovw(tail_k_, eax);
    if (calls_) kmovw(slot_address(tail_slot_), tail_k_);
    return;
  }
  forget_registers();
  position_ = program_.value_count();
  const Xmm mask = temp();
  vmovd(Xmm(mask.getIdx()), edx);
  vpbroadcastd(mask, Xmm(mask.getIdx()));
  vpcmpgtd(mask, mask, lane_numbers());
  vmovups(slot_address(tail_slot_), mask);
  if (lanes_ == 4) {
    vpmovsxdq(Xbyak::Ymm(mask.getIdx()), Xmm(mask.getIdx()));
    vmovups(slot_address(wide_tail_slot_), Xbyak::Ymm(mask.getIdx()));
  }
  release_temps();
}

// 0, 1, 2, ... in 32-bit lanes, from the pool.
Emitter::Address Emitter::lane_numbers() {
  constexpr std::array<uint32_t, 8> numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  std::array<uint8_t, 32> bytes;
  std::memcpy(bytes.data(), numbers.data(), 32);
  return pooled(std::span(bytes).first(size_t(lanes_) * 4));
}

// One vector of columns. Everything is read before anything is written, as an output may be the
// array of an input.
void Emitter::emit_vector(int copy, bool tail) {
  forget_registers();
  const int slots = slots_;
  emitting_ = Level::column;
  copy_ = copy, tail_ = tail;
  for (Value& v : values_)
    if (v.level == Level::column) v.home = -1;
  for (int id = static_cast<int>(program_.inputs.size()); id < program_.value_count(); ++id)
    if (values_[id].level == Level::column && !values_[id].folded) emit_inst(id);
  position_ = program_.value_count();
  for (const LoopOutput& out : program_.outputs) {
    use(out.value);
    pinned_.clear();
  }
  fold_outputs(copy, tail);
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    const LoopOutput& out = program_.outputs[i];
    if (out.reduce != Reduce::none) continue;
    const Xmm value = use(out.value);
    store_vector(element(program_.inputs.size() + i, copy), out.dtype, value, tail, stream_);
    release_temps();
  }
  slots_ = slots;
}

void Emitter::advance_pointers() {
  for (size_t i = 0; i < nest_.pointers.size(); ++i) {
    const int64_t stride = nest_.row_stride(i);
    if (stride == 0) continue;
    const bool fits = stride == static_cast<int32_t>(stride);
    if (!fits) mov(rax, stride);
    if (pointer_registers_[i])
      fits ? add(*pointer_registers_[i], static_cast<int>(stride))
           : add(*pointer_registers_[i], rax);
    else
      fits ? add(qword[block_ + pointer_offset(i)], static_cast<int>(stride))
           : add(qword[block_ + pointer_offset(i)], rax);
  }
}

}  // namespace keratin::cpu

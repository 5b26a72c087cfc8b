#include "keratin/backend/cpu/jit/array_addresses.h"

namespace keratin::cpu {

ArrayAddresses::ArrayAddresses(const LoopNest& nest, bool calls, Assembler& code)
    : nest_(nest),
      calls_(calls),
      code_(code),
      block_(calls ? code.rbx : code.rdi),
      index_(calls ? code.r12 : code.rcx),
      columns_(calls ? code.r13 : code.rsi),
      rows_(calls ? code.r14 : code.r8) {
  std::vector<Reg64> pool{code.r15};
  if (!calls)
    pool = {code.r9, code.r10, code.r11, code.rbx, code.r12, code.r13, code.r14, code.r15};
  registers_.resize(nest.pointers.size());
  size_t next = 0;
  for (const bool columns : {true, false})
    for (size_t i = 0; i < nest.pointers.size() && next < pool.size(); ++i)
      if ((nest.column_stride(i) != 0) == columns) registers_[i] = pool[next++];
}

void ArrayAddresses::load() {
  if (calls_) code_.mov(block_, code_.rdi);
  code_.mov(rows_, code_.ptr[block_ + int(offsetof(LoopBlock, rows))]);
  code_.mov(columns_, code_.ptr[block_ + int(offsetof(LoopBlock, columns))]);
  for (size_t i = 0; i < registers_.size(); ++i)
    if (registers_[i]) code_.mov(*registers_[i], code_.ptr[block_ + pointer_offset(i)]);
}

void ArrayAddresses::advance() {
  if (nest_.strides_in_block) return advance_by_block();
  for (size_t i = 0; i < registers_.size(); ++i) {
    const int64_t stride = nest_.row_stride(i);
    if (stride == 0) continue;
    const bool fits = stride == static_cast<int32_t>(stride);
    if (!fits) code_.mov(code_.rax, stride);
    const auto add = [&](const Operand& pointer) {
      fits ? code_.add(pointer, static_cast<uint32_t>(stride)) : code_.add(pointer, code_.rax);
    };
    registers_[i] ? add(*registers_[i]) : add(code_.qword[block_ + pointer_offset(i)]);
  }
}

// The code does not know the strides that are not 0.
void ArrayAddresses::advance_by_block() {
  code_.mov(code_.rax, code_.ptr[block_ + int(offsetof(LoopBlock, row_strides))]);
  for (size_t i = 0; i < registers_.size(); ++i) {
    if (nest_.row_stride(i) == 0) continue;
    const Address stride = code_.ptr[code_.rax + static_cast<int>(i * sizeof(int64_t))];
    if (registers_[i]) {
      code_.add(*registers_[i], stride);
    } else {
      code_.mov(code_.rdx, stride);
      code_.add(code_.qword[block_ + pointer_offset(i)], code_.rdx);
    }
  }
}

Address ArrayAddresses::element(size_t pointer, int copy) {
  const auto size = static_cast<int>(size_of(nest_.pointers[pointer].dtype));
  Reg64 base = code_.rax;
  if (registers_[pointer])
    base = *registers_[pointer];
  else
    code_.mov(code_.rax, code_.ptr[block_ + pointer_offset(pointer)]);
  if (nest_.column_stride(pointer) == 0) return code_.ptr[base];
  return code_.ptr[base + index_ * size + int64_t{copy} * code_.lanes() * size];
}

}  // namespace keratin::cpu

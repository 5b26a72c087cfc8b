#include "keratin/backend/cpu/jit/body_emitter.h"

#include <bit>

#include "keratin/backend/cpu/jit/tile_ops.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {

constexpr int call_operands = 4;  // the result, and up to three operands

// Tiles of half types hold floats.
DType tile_dtype(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

}  // namespace

BodyEmitter::BodyEmitter(const LoopNest& nest, const LoopAnalysis& analysis, LaneAssembler& code,
                         ArrayAddresses& arrays)
    : program_(nest.program), nest_(nest), analysis_(analysis), code_(code), arrays_(arrays) {
  std::vector<RegisterAllocator::Held> held;
  for (const LoopValue& v : analysis.values)
    held.push_back({.lane = v.lane, .rebuilt = v.level == LoopLevel::constant, .users = v.users});
  code.set_values(std::move(held));
}

void BodyEmitter::make_call_slots() {
  if (!analysis_.calls) return;
  call_slots_ = code_.slot_mark();
  for (int i = 0; i < call_operands; ++i) code_.new_slot();
  saved_slots_ = code_.slot_mark();
  for (size_t i = 0; i < code_.reserved().size(); ++i) code_.new_slot();
}

void BodyEmitter::emit_level(LoopLevel level) {
  code_.forget_registers();
  copy_ = 0, tail_ = false;
  for (int id = 0; id < program_.value_count(); ++id) {
    if (value(id).level != level || value(id).users.empty()) continue;
    code_.set_position(id);
    code_.forget_slot(id);
    if (value(id).folded) continue;
    program_.is_input(id) ? load_input(id) : emit(id);
    code_.spill(id);
    code_.end_instruction();
  }
}

void BodyEmitter::emit_columns(int copy, bool tail) {
  code_.forget_registers();
  copy_ = copy, tail_ = tail;
  for (int id = 0; id < program_.value_count(); ++id)
    if (value(id).level == LoopLevel::column) code_.forget_slot(id);
  for (int id = static_cast<int>(program_.inputs.size()); id < program_.value_count(); ++id) {
    if (value(id).level != LoopLevel::column || value(id).folded) continue;
    code_.set_position(id);
    emit(id);
    code_.end_instruction();
  }
  code_.set_position(program_.value_count());
}

Xmm BodyEmitter::use(int id) {
  if (!code_.in_register(id)) {
    if (code_.in_slot(id))
      code_.reload(id);
    else if (program_.is_input(id))
      load_input(id);
    else
      code_.broadcast(code_.define(id), value(id).lane, constant_of(program_.inst(id)));
  }
  return code_.keep(id);
}

BodyEmitter::Source BodyEmitter::source(int id) {
  if (!code_.in_register(id)) {
    if (code_.in_slot(id)) return {Xmm(0), code_.slot_of(id), true};
    if (is_constant(id)) return {Xmm(0), constant_of(program_.inst(id)), true};
  }
  return {use(id), code_.ptr[code_.rsp], false};
}

void BodyEmitter::load_input(int id) {
  const auto pointer = static_cast<size_t>(id);
  const DType dtype = nest_.pointers[pointer].dtype;
  const Xmm dst = code_.define(id);
  const Address from = arrays_.element(pointer, copy_);
  if (nest_.column_stride(pointer) == 0) return code_.load_scalar(dst, dtype, from);
  if (!tail_) code_.prefetch_input(from);
  code_.load_vector(dst, dtype, from, tail_);
}

Address BodyEmitter::constant_of(const LoopInst& inst) {
  switch (inst.dtype) {
    case DType::f64:
      return code_.constant_bits64(std::bit_cast<uint64_t>(inst.real));
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return code_.constant(static_cast<float>(inst.real));
    case DType::i64:
      return code_.constant_bits64(static_cast<uint64_t>(inst.integer));
    case DType::boolean:
      return code_.constant_bits(inst.integer != 0 ? ~0u : 0u);
    case DType::i8:
      return code_.constant_bits(static_cast<uint32_t>(int32_t{static_cast<int8_t>(inst.integer)}));
    case DType::u8:
      return code_.constant_bits(uint32_t{static_cast<uint8_t>(inst.integer)});
    case DType::i32:
    case DType::string:
      break;
  }
  return code_.constant_bits(static_cast<uint32_t>(inst.integer));
}

// Operands and result of a call pass through the stack, and everything that lives in a register is
// put away first, for a call keeps no vector register.
void BodyEmitter::emit_call(const LoopInst& inst, int id) {
  const int count = operand_count(inst.op);
  for (int i = 0; i < count; ++i) {
    const int arg = inst.args[size_t(i)];
    code_.store_vector(code_.slot_address(call_slots_ + 1 + i), tile_dtype(value(arg).dtype),
                       use(arg), false, false);
  }
  code_.save_all();
  int saved = saved_slots_;
  for (const auto& r : code_.reserved())
    code_.vmovups(code_.slot_address(saved++), code_.view(r.reg, r.lane));
  code_.vzeroupper();
  const Reg64 arguments[] = {code_.rdi, code_.rsi, code_.rdx, code_.rcx};
  for (int i = 0; i <= count; ++i) code_.lea(arguments[i], code_.slot_address(call_slots_ + i));
  code_.mov(code_.r8d, code_.lanes());
  const DType operand = program_.operand_dtype(inst);
  code_.mov(code_.rax, reinterpret_cast<uintptr_t>(tile_function(inst.op, operand, inst.dtype)));
  code_.call(code_.rax);
  saved = saved_slots_;
  for (const auto& r : code_.reserved())
    code_.vmovups(code_.view(r.reg, r.lane), code_.slot_address(saved++));
  code_.restore_tail(tail_);
  code_.load_vector(code_.define(id), tile_dtype(inst.dtype), code_.slot_address(call_slots_),
                    false);
}

}  // namespace keratin::cpu

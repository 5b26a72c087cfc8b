#include <algorithm>

#include "keratin/backend/cpu/jit/emitter.h"
#include "keratin/backend/cpu/jit/tile_ops.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

using Xbyak::Operand;

void Emitter::zero(const Xmm& d) { vxorps(d, d, d); }

void Emitter::ones(const Xmm& d) {
  if (evex_)
    vpternlogd(d, d, d, 0xff);
  else
    vpcmpeqd(d, d, d);
}

void Emitter::move(const Xmm& d, const Xmm& a) {
  if (d.getIdx() != a.getIdx()) vmovaps(d, a);
}

void Emitter::lane_add(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
  switch (lane) {
    case Lane::f32:
      return vaddps(d, a, b);
    case Lane::f64:
      return vaddpd(d, a, b);
    case Lane::i32:
      return vpaddd(d, a, b);
    case Lane::i64:
      return vpaddq(d, a, b);
    case Lane::mask:
      return vorps(d, a, b);
  }
}

void Emitter::lane_sub(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
  switch (lane) {
    case Lane::f32:
      return vsubps(d, a, b);
    case Lane::f64:
      return vsubpd(d, a, b);
    case Lane::i64:
      return vpsubq(d, a, b);
    case Lane::i32:
    case Lane::mask:
      return vpsubd(d, a, b);
  }
}

void Emitter::lane_mul(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
  switch (lane) {
    case Lane::f32:
      return vmulps(d, a, b);
    case Lane::f64:
      return vmulpd(d, a, b);
    case Lane::i32:
      return vpmulld(d, a, b);
    case Lane::i64:
      return vpmullq(d, a, b);
    case Lane::mask:
      return vandps(d, a, b);
  }
}

// The instructions give the second operand when there is a NaN, so one in the first is put back.
void Emitter::maximum(Lane lane, bool max, const Xmm& d, const Xmm& a, const Xmm& b) {
  switch (lane) {
    case Lane::f32:
      max ? vmaxps(d, a, b) : vminps(d, a, b);
      break;
    case Lane::f64:
      max ? vmaxpd(d, a, b) : vminpd(d, a, b);
      break;
    case Lane::i32:
      return max ? vpmaxsd(d, a, b) : vpminsd(d, a, b);
    case Lane::mask:
      return max ? vorps(d, a, b) : vandps(d, a, b);
    case Lane::i64: {
      if (evex_) return max ? vpmaxsq(d, a, b) : vpminsq(d, a, b);
      const Xmm greater = sized(temp().getIdx(), d.getBit());
      vpcmpgtq(greater, a, b);
      return max ? vblendvpd(d, b, a, greater) : vblendvpd(d, a, b, greater);
    }
  }
  constexpr int unordered = 3;
  const bool wide = lane == Lane::f64;
  if (evex_) {
    wide ? vcmppd(k2_, a, a, unordered) : vcmpps(k2_, a, a, unordered);
    return wide ? vmovapd(d | k2_, a) : vmovaps(d | k2_, a);
  }
  const Xmm nan = sized(temp().getIdx(), d.getBit());
  wide ? vcmppd(nan, a, a, unordered) : vcmpps(nan, a, a, unordered);
  wide ? vblendvpd(d, d, a, nan) : vblendvps(d, d, a, nan);
}

// Modes as in the instruction: 0 half to even, 1 down, 2 up, 3 towards zero.
void Emitter::round_to(Lane lane, int mode, const Xmm& d, const Operand& a) {
  const auto imm = static_cast<uint8_t>(mode | 8);
  if (evex_) return lane == Lane::f64 ? vrndscalepd(d, a, imm) : vrndscaleps(d, a, imm);
  lane == Lane::f64 ? vroundpd(d, a, imm) : vroundps(d, a, imm);
}

// Small integers are computed in 32 bits and brought back to their range.
void Emitter::wrap_small(const Xmm& value, DType dtype) {
  if (dtype == DType::u8) return vandps(value, value, constant_bits(0xff));
  if (dtype != DType::i8) return;
  vpslld(value, value, 24);
  vpsrad(value, value, 24);
}

bool Emitter::emit_unary(const LoopInst& inst, int id) {
  const Lane lane = values_[id].lane;
  const bool wide = is_wide(lane);
  const auto real_only = [&](auto emit) {
    if (!is_real(lane)) return false;
    const Xmm a = use(inst.args[0]);
    emit(define(id), a);
    return true;
  };
  const auto rounding = [&](int mode) {
    const Xmm a = use(inst.args[0]);
    const Xmm d = define(id);
    is_real(lane) ? round_to(lane, mode, d, a) : move(d, a);
    return true;
  };
  switch (inst.op) {
    case ScalarOp::floor:
      return rounding(1);
    case ScalarOp::ceil:
      return rounding(2);
    case ScalarOp::round:
      return rounding(0);
    case ScalarOp::trunc:
      return rounding(3);
    case ScalarOp::sqrt:
      return real_only([&](Xmm d, Xmm a) { wide ? vsqrtpd(d, a) : vsqrtps(d, a); });
    case ScalarOp::rsqrt:
      return real_only([&](Xmm d, Xmm a) {
        const Xmm root = temp(lane);
        wide ? vsqrtpd(root, a) : vsqrtps(root, a);
        broadcast(d, lane, constant(lane, 1));
        wide ? vdivpd(d, d, root) : vdivps(d, d, root);
      });
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::sign:
    case ScalarOp::relu:
      emit_sign_op(inst, id);
      return true;
    default:
      return false;
  }
}

void Emitter::emit_sign_op(const LoopInst& inst, int id) {
  const Lane lane = values_[id].lane;
  const Xmm a = use(inst.args[0]);
  const Xmm d = define(id);
  const auto sign_bits = [&] {
    return lane == Lane::f64 ? constant_bits64(uint64_t{1} << 63) : constant_bits(1u << 31);
  };
  const auto logic = [&](auto narrow_op, auto wide_op) { is_wide(lane) ? wide_op() : narrow_op(); };
  if (inst.op == ScalarOp::neg && is_real(lane)) {
    return logic([&] { vxorps(d, a, sign_bits()); }, [&] { vxorpd(d, a, sign_bits()); });
  }
  if (inst.op == ScalarOp::neg) {
    zero(d);
    lane_sub(lane, d, d, a);
    return wrap_small(d, inst.dtype);
  }
  if (inst.op == ScalarOp::abs && is_real(lane)) {
    return logic([&] { vandps(d, a, constant_bits(~0u >> 1)); },
                 [&] { vandpd(d, a, constant_bits64(~uint64_t{0} >> 1)); });
  }
  if (inst.op == ScalarOp::abs && lane != Lane::i64) {
    vpabsd(d, a);
    return wrap_small(d, inst.dtype);
  }
  if (inst.op == ScalarOp::relu && is_real(lane)) {
    zero(d);
    return logic([&] { vmaxps(d, d, a); }, [&] { vmaxpd(d, d, a); });
  }
  if (is_real(lane)) return emit_real_sign(lane, d, a);
  const Xmm none = temp(lane);
  zero(none);
  if (inst.op == ScalarOp::relu) return maximum(lane, true, d, a, none);
  const Xmm other = temp(lane);
  if (inst.op == ScalarOp::abs) {  // of i64
    lane_sub(lane, other, none, a);
    return maximum(lane, true, d, a, other);
  }
  broadcast(other, lane, constant(lane, 1));
  maximum(lane, false, d, a, other);
  broadcast(other, lane, constant(lane, -1));
  maximum(lane, true, d, d, other);
}

// ±1 with the sign of x, or x itself where it is zero or NaN.
void Emitter::emit_real_sign(Lane lane, const Xmm& d, const Xmm& x) {
  constexpr int ordered_not_equal = 12;
  const Xmm none = temp(lane), one = temp(lane);
  zero(none);
  if (lane == Lane::f64) {
    vandpd(one, x, constant_bits64(uint64_t{1} << 63));
    vorpd(one, one, constant(lane, 1));
  } else {
    vandps(one, x, constant_bits(1u << 31));
    vorps(one, one, constant(lane, 1));
  }
  if (evex_) {
    lane == Lane::f64 ? vcmppd(k2_, x, none, ordered_not_equal)
                      : vcmpps(k2_, x, none, ordered_not_equal);
    return lane == Lane::f64 ? vblendmpd(d | k2_, x, one) : vblendmps(d | k2_, x, one);
  }
  if (lane == Lane::f64) {
    vcmppd(none, x, none, ordered_not_equal);
    return vblendvpd(d, x, one, none);
  }
  vcmpps(none, x, none, ordered_not_equal);
  vblendvps(d, x, one, none);
}

bool Emitter::emit_binary(const LoopInst& inst, int id) {
  const Lane lane = values_[id].lane;
  const auto is_constant = [&](int value) { return values_[value].level == Level::constant; };
  int left = inst.args[0], right = inst.args[1];
  const bool commutes = inst.op == ScalarOp::add || inst.op == ScalarOp::mul;
  if (commutes && values_[left].reg < 0 && (values_[left].home >= 0 || is_constant(left)))
    std::swap(left, right);
  switch (inst.op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul: {
      const Xmm a = use(left);
      const Source b = source(right);
      const Xmm d = define(id);
      inst.op == ScalarOp::add   ? lane_add(lane, d, a, *b)
      : inst.op == ScalarOp::sub ? lane_sub(lane, d, a, *b)
                                 : lane_mul(lane, d, a, *b);
      wrap_small(d, inst.dtype);
      return true;
    }
    case ScalarOp::div:
    case ScalarOp::floor_div: {
      if (!is_real(lane)) return false;
      const Xmm a = use(left);
      const Source b = source(right);
      const Xmm d = define(id);
      lane == Lane::f64 ? vdivpd(d, a, *b) : vdivps(d, a, *b);
      if (inst.op == ScalarOp::floor_div) round_to(lane, 1, d, d);
      return true;
    }
    case ScalarOp::maximum:
    case ScalarOp::minimum: {
      const bool max = inst.op == ScalarOp::maximum;
      if (is_constant(right)) std::swap(left, right);
      const Xmm a = use(left), b = use(right);
      const Xmm d = define(id);
      const bool number = is_constant(left) && !std::isnan(constant_real(left));
      if (number && lane == Lane::f32)
        max ? vmaxps(d, a, b) : vminps(d, a, b);
      else if (number && lane == Lane::f64)
        max ? vmaxpd(d, a, b) : vminpd(d, a, b);
      else
        maximum(lane, max, d, a, b);
      return true;
    }
    default:
      return false;
  }
}

double Emitter::constant_real(int value) const { return program_.inst(value).real; }

bool Emitter::emit_bits(const LoopInst& inst, int id) {
  const Lane lane = values_[id].lane;
  const bool wide = lane == Lane::i64;
  switch (inst.op) {
    case ScalarOp::bit_not: {
      const Xmm a = use(inst.args[0]);
      const Xmm d = define(id);
      ones(d);
      vxorps(d, d, a);
      wrap_small(d, inst.dtype);
      return true;
    }
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor: {
      const Xmm a = use(inst.args[0]), b = use(inst.args[1]);
      const Xmm d = define(id);
      inst.op == ScalarOp::bit_and  ? vandps(d, a, b)
      : inst.op == ScalarOp::bit_or ? vorps(d, a, b)
                                    : vxorps(d, a, b);
      return true;
    }
    case ScalarOp::shift_left: {
      const Xmm a = use(inst.args[0]), b = use(inst.args[1]);
      const Xmm d = define(id);
      wide ? vpsllvq(d, a, b) : vpsllvd(d, a, b);
      wrap_small(d, inst.dtype);
      return true;
    }
    case ScalarOp::shift_right: {
      const Xmm a = use(inst.args[0]), b = use(inst.args[1]);
      const Xmm d = define(id);
      if (lane == Lane::mask)
        vandnps(d, b, a);
      else
        wide ? vpsravq(d, a, b) : vpsravd(d, a, b);
      return true;
    }
    case ScalarOp::shift_right_logical: {
      const Xmm a = use(inst.args[0]), b = use(inst.args[1]);
      const Xmm d = define(id);
      if (inst.dtype == DType::i8) {
        vandps(d, a, constant_bits(0xff));
        vpsrlvd(d, d, b);
      } else {
        wide ? vpsrlvq(d, a, b) : vpsrlvd(d, a, b);
      }
      wrap_small(d, inst.dtype);
      return true;
    }
    default:
      return false;
  }
}

// fma(a, b, c): the result register starts as a copy of one operand.
bool Emitter::emit_fused(const LoopInst& inst, int id) {
  if (inst.op != ScalarOp::fma && inst.op != ScalarOp::fms && inst.op != ScalarOp::fnma)
    return false;
  const bool wide = values_[id].lane == Lane::f64;
  int left = inst.args[0], right = inst.args[1];
  if (values_[left].level == Level::constant) std::swap(left, right);
  const Xmm a = use(left), c = use(inst.args[2]);
  const Source b = source(right);
  const Xmm d = define(id);
  move(d, c);
  if (inst.op == ScalarOp::fma)
    wide ? vfmadd231pd(d, a, *b) : vfmadd231ps(d, a, *b);
  else if (inst.op == ScalarOp::fms)
    wide ? vfmsub231pd(d, a, *b) : vfmsub231ps(d, a, *b);
  else
    wide ? vfnmadd231pd(d, a, *b) : vfnmadd231ps(d, a, *b);
  return true;
}

// By a function of the interpreter: operands and result pass through the stack, and everything
// that lives in a register is put away first, for a call keeps no vector register.
void Emitter::emit_call(const LoopInst& inst, int id) {
  const int count = operand_count(inst.op);
  for (int i = 0; i < count; ++i) {
    const int arg = inst.args[static_cast<size_t>(i)];
    store_vector(slot_address(call_slots_ + 1 + i), tile_dtype(values_[arg].dtype), use(arg), false,
                 false);
  }
  for (int reg = 0; reg < static_cast<int>(owner_.size()); ++reg) {
    if (owner_[reg] < 0) continue;
    if (values_[owner_[reg]].users.back() > position_) spill(owner_[reg]);
    release(reg);
  }
  pinned_.clear();
  int saved = saved_slots_;
  for (const Accumulator& a : accumulators_)
    for (int reg : a.registers) vmovups(slot_address(saved++), view(reg, a.lane));
  vzeroupper();
  const Reg64 arguments[] = {rdi, rsi, rdx, rcx};
  for (int i = 0; i <= count; ++i) lea(arguments[i], slot_address(call_slots_ + i));
  mov(r8d, lanes_);
  const DType operand = program_.operand_dtype(inst);
  mov(rax, reinterpret_cast<uintptr_t>(tile_function(inst.op, operand, inst.dtype)));
  call(rax);
  saved = saved_slots_;
  for (const Accumulator& a : accumulators_)
    for (int reg : a.registers) vmovups(view(reg, a.lane), slot_address(saved++));
  if (evex_ && (tail_ || row_rest_ > 0)) kmovw(tail_k_, slot_address(tail_slot_));
  load_vector(define(id), tile_dtype(inst.dtype), slot_address(call_slots_), false);
}

DType Emitter::tile_dtype(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

// Whether emit_inst would end in emit_call; must agree with the functions that emit.
bool Emitter::calls_out(const LoopProgram& program, const LoopInst& inst, bool evex) {
  if (inst.op == ScalarOp::constant || inst.op == ScalarOp::select) return false;
  const DType operand = program.dtype_of(inst.args[0]);
  const Lane from = lane_of(operand), to = lane_of(inst.dtype);
  switch (inst.op) {
    case ScalarOp::cast:
      return !evex && ((from == Lane::i64 && is_real(to)) || (is_real(from) && to == Lane::i64));
    case ScalarOp::exp:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log1p:
    case ScalarOp::tanh:
    case ScalarOp::erf:
    case ScalarOp::sigmoid:
      return from != Lane::f32;
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
    case ScalarOp::div:
    case ScalarOp::floor_div:
      return !is_real(from);
    case ScalarOp::mul:
    case ScalarOp::shift_right:
      return !evex && from == Lane::i64;
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
    case ScalarOp::asin:
    case ScalarOp::acos:
    case ScalarOp::atan:
    case ScalarOp::sinh:
    case ScalarOp::cosh:
    case ScalarOp::asinh:
    case ScalarOp::acosh:
    case ScalarOp::atanh:
    case ScalarOp::erfinv:
    case ScalarOp::pow:
    case ScalarOp::mod:
    case ScalarOp::atan2:
      return true;
    default:
      return !is_real(from) && (inst.op == ScalarOp::is_nan || inst.op == ScalarOp::is_inf ||
                                inst.op == ScalarOp::is_finite);
  }
}

void Emitter::emit_inst_body(int id) {
  const LoopInst& inst = program_.inst(id);
  const bool done = [&] {
    if (calls_out(program_, inst, evex_)) return emit_call(inst, id), true;
    if (inst.op == ScalarOp::select) return emit_select(inst, id), true;
    if (inst.op == ScalarOp::cast) return emit_cast(inst, id), true;
    return emit_unary(inst, id) || emit_binary(inst, id) || emit_bits(inst, id) ||
           emit_fused(inst, id) || emit_compare(inst, id) || emit_math(inst, id);
  }();
  ensure(done, "loop code: cannot emit ", name(inst.op), " of ", inst.dtype);
}

void Emitter::emit_inst(int id) {
  position_ = id;
  emit_inst_body(id);
  end_instruction();
}

}  // namespace keratin::cpu

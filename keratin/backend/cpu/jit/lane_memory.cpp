#include "keratin/backend/cpu/jit/lane_assembler.h"
#include "keratin/base/text.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::cpu {

// How many elements are left over, into rdx.
void LaneAssembler::count_remaining() {
  if (tail_count_ >= 0) return mov(edx, tail_count_);
  mov(rdx, columns_);
  sub(rdx, index_);
}

void LaneAssembler::begin_tail(bool saved) {
  count_remaining();
  if (evex()) {
    mov(eax, -1);
    bzhi(eax, eax, edx);
    kmovw(tail_k_, eax);
    if (saved) kmovw(slot_address(tail_slot_), tail_k_);
    return;
  }
  forget_registers();
  const Xmm mask = temp();
  vmovd(Xmm(mask.getIdx()), edx);
  vpbroadcastd(mask, Xmm(mask.getIdx()));
  vpcmpgtd(mask, mask, lane_numbers());
  vmovups(slot_address(tail_slot_), mask);
  if (lanes() == 4) {
    vpmovsxdq(Xbyak::Ymm(mask.getIdx()), Xmm(mask.getIdx()));
    vmovups(slot_address(wide_tail_slot_), Xbyak::Ymm(mask.getIdx()));
  }
  release_temps();
}

void LaneAssembler::restore_tail(bool in_tail) {
  if (evex() && (in_tail || tail_count_ > 0)) kmovw(tail_k_, slot_address(tail_slot_));
}

void LaneAssembler::keep_tail(Lane lane, const Xmm& d, const Xmm& updated) {
  const bool wide = is_wide(lane);
  if (evex()) return wide ? vmovapd(d | tail_k_, updated) : vmovaps(d | tail_k_, updated);
  const Xmm mask = tail_mask(lane);
  wide ? vblendvpd(d, d, updated, mask) : vblendvps(d, d, updated, mask);
}

void LaneAssembler::load_scalar(const Xmm& dst, DType dtype, const Address& from) {
  const Lane lane = lane_of(dtype);
  const Xmm low(dst.getIdx());
  switch (dtype) {
    case DType::f32:
    case DType::i32:
    case DType::f64:
    case DType::i64:
      return broadcast(dst, lane, from);
    case DType::f16:
    case DType::bf16:
      movzx(eax, word[from.getRegExp(false)]);
      if (dtype == DType::bf16) shl(eax, 16);
      vmovd(low, eax);
      if (dtype == DType::f16) vcvtph2ps(low, low);
      return vbroadcastss(dst, low);
    case DType::i8:
      movsx(eax, byte[from.getRegExp(false)]);
      break;
    case DType::u8:
      movzx(eax, byte[from.getRegExp(false)]);
      break;
    case DType::boolean:
      cmp(byte[from.getRegExp(false)], 1);  // borrows when it is 0
      sbb(eax, eax);
      not_(eax);
      break;
    case DType::string:
      break;
  }
  vmovd(low, eax);
  vpbroadcastd(dst, low);
}

// The mask of the elements that remain, for instructions that take it in a vector register.
Xmm LaneAssembler::tail_mask(Lane lane) {
  const Xmm mask = temp(lane);
  vmovups(mask, slot_address(is_wide(lane) ? wide_tail_slot_ : tail_slot_));
  return mask;
}

void LaneAssembler::load_vector(const Xmm& dst, DType dtype, const Address& from, bool tail) {
  const bool small = size_of(dtype) < 4;
  if (tail && !evex()) {
    if (small) return load_small_tail(dst, dtype, from);
    const Xmm mask = tail_mask(lane_of(dtype));
    return is_wide(lane_of(dtype)) ? vmaskmovpd(dst, mask, from) : vmaskmovps(dst, mask, from);
  }
  const Xmm to = tail ? dst | tail_k_ | T_z : dst;
  switch (dtype) {
    case DType::f32:
    case DType::i32:
      return vmovups(to, from);
    case DType::f64:
    case DType::i64:
      return vmovupd(to, from);
    case DType::f16:
      return vcvtph2ps(to, from);
    case DType::bf16:
      vpmovzxwd(to, from);
      return vpslld(dst, dst, 16);
    case DType::i8:
      return vpmovsxbd(to, from);
    case DType::u8:
      return vpmovzxbd(to, from);
    case DType::boolean:
      vpmovzxbd(to, from);
      return nonzero_to_mask(dst);
    case DType::string:
      break;
  }
}

// 32-bit lanes of a stored boolean become all ones or zeros.
void LaneAssembler::nonzero_to_mask(const Xmm& value) {
  if (evex()) {
    vptestmd(k2_, value, value);
    return vpmovm2d(value, k2_);
  }
  const Xmm none = temp();
  zero(none);
  vpcmpgtd(value, value, none);
}

// AVX2 has no masked loads of bytes and words: insert the remaining elements one by one.
void LaneAssembler::load_small_tail(const Xmm& dst, DType dtype, const Address& from) {
  const Xmm low(dst.getIdx());
  const bool words = size_of(dtype) == 2;
  Xbyak::Label done;
  vxorps(low, low, low);
  count_remaining();
  for (int i = 0; i + 1 < lanes(); ++i) {
    if (words)
      vpinsrw(low, low, offset(from, i * 2), i);
    else
      vpinsrb(low, low, offset(from, i), i);
    cmp(rdx, i + 1);
    jle(done, T_NEAR);
  }
  L(done);
  switch (dtype) {
    case DType::f16:
      return vcvtph2ps(dst, low);
    case DType::bf16:
      vpmovzxwd(dst, low);
      return vpslld(dst, dst, 16);
    case DType::i8:
      return vpmovsxbd(dst, low);
    case DType::u8:
      return vpmovzxbd(dst, low);
    case DType::boolean:
      vpmovzxbd(dst, low);
      return nonzero_to_mask(dst);
    default:
      ensure(false, "loop code: ", dtype, " is not small");
  }
}

void LaneAssembler::store_vector(const Address& to, DType dtype, const Xmm& value, bool tail,
                                 bool stream) {
  const Lane lane = lane_of(dtype);
  if (size_of(dtype) < 4) return store_small(to, dtype, value, tail);
  if (tail && evex())
    return is_wide(lane) ? vmovupd(to | tail_k_, value) : vmovups(to | tail_k_, value);
  if (tail) {
    const Xmm mask = tail_mask(lane);
    return is_wide(lane) ? vmaskmovpd(to, mask, value) : vmaskmovps(to, mask, value);
  }
  if (stream) return vmovntps(to, value);
  prefetchw(offset(to, prefetch_bytes));
  vmovups(to, value);
}

// Bytes or words, made from 32-bit lanes.
void LaneAssembler::store_small(const Address& to, DType dtype, const Xmm& value, bool tail) {
  const bool words = size_of(dtype) == 2;
  if (evex()) {
    const Address masked = tail ? to | tail_k_ : to;
    if (dtype == DType::f16) return vcvtps2ph(masked, value, 0);
    const Xmm bits = small_bits(dtype, value);
    return words ? vpmovdw(masked, bits) : vpmovdb(masked, bits);
  }
  const Xmm packed = pack(dtype, value);
  if (!tail) {
    const int bytes = lanes() * (words ? 2 : 1);
    if (bytes == 16) return vmovups(to, packed);
    return bytes == 8 ? vmovq(to, packed) : vmovd(to, packed);
  }
  Xbyak::Label done;
  count_remaining();
  for (int i = 0; i + 1 < lanes(); ++i) {
    if (words)
      vpextrw(offset(to, i * 2), packed, i);
    else
      vpextrb(offset(to, i), packed, i);
    cmp(rdx, i + 1);
    jle(done, T_NEAR);
  }
  L(done);
}

// What to store in the low bits of each lane.
Xmm LaneAssembler::small_bits(DType dtype, const Xmm& value) {
  if (dtype == DType::i8 || dtype == DType::u8) return value;
  const Xmm bits = temp();
  if (dtype == DType::boolean) {
    vpsrld(bits, value, 31);
  } else {
    round_to_bf16(bits, value);
    vpsrld(bits, bits, 16);
  }
  return bits;
}

// The bytes or words of an AVX2 register side by side.
Xmm LaneAssembler::pack(DType dtype, const Xmm& value) {
  Xmm packed = temp();
  if (dtype == DType::f16) {
    vcvtps2ph(Xmm(packed.getIdx()), value, 0);
    return Xmm(packed.getIdx());
  }
  Xmm bits = small_bits(dtype, value);
  if (dtype == DType::i8) {
    vpand(packed, value, constant_bits(0xff));
    bits = packed;
  }
  const Xmm low(packed.getIdx());
  if (lanes() == 8) {
    const Xmm high(temp().getIdx());
    vextractf128(high, Xbyak::Ymm(bits.getIdx()), 1);
    vpackusdw(low, Xmm(bits.getIdx()), high);
  } else {
    vpackusdw(low, Xmm(bits.getIdx()), Xmm(bits.getIdx()));
  }
  if (size_of(dtype) == 1) vpackuswb(low, low, low);
  return low;
}

}  // namespace keratin::cpu

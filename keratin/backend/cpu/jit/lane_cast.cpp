#include "keratin/backend/cpu/jit/lane_assembler.h"
#include "keratin/base/text.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::cpu {

void LaneAssembler::convert(Lane from, DType to, const Xmm& d, const Xmm& a) {
  if (to == DType::boolean) return convert_to_mask(from, d, a);
  if (from == Lane::mask) return convert_mask(to, d, a);
  is_real(from) ? convert_real(from, to, d, a) : convert_integer(from, to, d, a);
}

// The upper half of each lane, rounded to nearest even; a NaN stays one.
void LaneAssembler::round_to_bf16(const Xmm& d, const Xmm& a) {
  const Xmm rounding = temp();
  vpsrld(rounding, a, 16);
  vandps(rounding, rounding, constant_bits(1));
  vpaddd(rounding, rounding, constant_bits(0x7fff));
  vpaddd(rounding, rounding, a);
  constexpr int unordered = 3;
  if (evex()) {
    vcmpps(k2_, a, a, unordered);
    vorps(rounding | k2_, a, constant_bits(0x400000));
    return vandps(d, rounding, constant_bits(0xffff0000));
  }
  const Xmm nan = temp(), quiet = temp();
  vcmpps(nan, a, a, unordered);
  vorps(quiet, a, constant_bits(0x400000));
  vblendvps(rounding, rounding, quiet, nan);
  vandps(d, rounding, constant_bits(0xffff0000));
}

void LaneAssembler::convert_real(Lane from, DType to, const Xmm& d, const Xmm& a) {
  if (is_integer(to)) return convert_real_to_integer(from, to, d, a);
  if (to == DType::f64) return vcvtps2pd(d, a);
  if (from == Lane::f64) vcvtpd2ps(d, a);
  const Xmm& single = from == Lane::f64 ? d : a;
  if (to == DType::bf16) return round_to_bf16(d, single);
  if (to == DType::f16) {
    const Xmm packed = sized(temp().getIdx(), std::max(lanes() * 16, 128));
    vcvtps2ph(packed, single, 0);
    return vcvtph2ps(d, packed);
  }
  move(d, single);
}

// Truncates, saturates, and makes NaN 0. Where the type's bounds are floats of the source, clamping
// before is enough; else what is too large is patched after (the instruction gives the minimum).
void LaneAssembler::convert_real_to_integer(Lane from, DType to, const Xmm& d, const Xmm& a) {
  constexpr int ordered = 7;
  const bool wide = from == Lane::f64;
  const bool exact = size_of(to) == 1 || (wide && to == DType::i32);
  Xmm x = a;
  if (exact) {
    const double low = to == DType::u8 ? 0 : to == DType::i8 ? -128 : -2147483648.0;
    const double high = to == DType::u8 ? 255 : to == DType::i8 ? 127 : 2147483647.0;
    const Xmm bound = temp(from);
    x = temp(from);
    broadcast(bound, from, constant(from, low));
    wide ? vmaxpd(x, bound, a) : vmaxps(x, bound, a);
    broadcast(bound, from, constant(from, high));
    wide ? vminpd(x, bound, x) : vminps(x, bound, x);
  }
  if (to == DType::i64) {  // AVX-512 only
    wide ? vcmppd(k2_, a, a, ordered) : vcmpps(k2_, a, a, ordered);
    wide ? vcvttpd2qq(d | k2_ | T_z, a) : vcvttps2qq(d | k2_ | T_z, a);
    compare_to_mask(ScalarOp::greater_equal, from, a, constant(from, 0x1p63));
    const Xmm largest = temp(Lane::i64);
    broadcast(largest, Lane::i64, constant_bits64(~uint64_t{0} >> 1));
    return vmovapd(d | k2_, largest);
  }
  if (evex()) {
    wide ? vcmppd(k2_, a, a, ordered) : vcmpps(k2_, a, a, ordered);
    wide ? vcvttpd2dq(d | k2_ | T_z, x) : vcvttps2dq(d | k2_ | T_z, x);
    if (exact) return;
    compare_to_mask(ScalarOp::greater_equal, from, a, constant(from, 0x1p31));
    const Xmm largest = temp();
    broadcast(largest, Lane::i32, constant_bits(~0u >> 1));
    return vmovaps(d | k2_, largest);
  }
  const Xmm number = temp(from);
  wide ? vcmppd(number, a, a, ordered) : vcmpps(number, a, a, ordered);
  if (wide) {
    const Xmm narrowed = temp();
    narrow_quads(narrowed, number);
    vcvttpd2dq(d, x);
    return vandps(d, d, narrowed);
  }
  vcvttps2dq(d, x);
  vandps(d, d, number);
  if (exact) return;
  const Xmm large = temp(), largest = temp();
  broadcast(large, Lane::f32, constant(0x1p31f));
  vcmpps(large, a, large, 0x1d);
  broadcast(largest, Lane::i32, constant_bits(~0u >> 1));
  vblendvps(d, d, largest, large);
}

// The low halves of 64-bit lanes.
void LaneAssembler::narrow_quads(const Xmm& d, const Xmm& a) {
  if (evex()) return vpmovqd(d, a);
  const Xmm high(temp().getIdx());
  vextractf128(high, Xbyak::Ymm(a.getIdx()), 1);
  vshufps(Xmm(d.getIdx()), Xmm(a.getIdx()), high, 0x88);
}

void LaneAssembler::convert_integer(Lane from, DType to, const Xmm& d, const Xmm& a) {
  const bool wide = from == Lane::i64;
  switch (to) {
    case DType::f64:
      return wide ? vcvtqq2pd(d, a) : vcvtdq2pd(d, a);
    case DType::i64:
      return vpmovsxdq(d, a);
    case DType::i8:
    case DType::u8:
    case DType::i32:
      wide ? narrow_quads(d, a) : move(d, a);
      return wrap_small(d, to);
    default:
      break;
  }
  wide ? vcvtqq2ps(d, a) : vcvtdq2ps(d, a);
  if (to != DType::f32) convert_real(Lane::f32, to, d, d);
}

void LaneAssembler::convert_mask(DType to, const Xmm& d, const Xmm& a) {
  if (lane_of(to) == Lane::f32) return vandps(d, a, constant(1.0f));
  const Xmm bit = is_wide(lane_of(to)) ? temp() : d;
  vpsrld(bit, a, 31);
  if (to == DType::f64) vcvtdq2pd(d, bit);
  if (to == DType::i64) vpmovsxdq(d, bit);
}

void LaneAssembler::convert_to_mask(Lane from, const Xmm& d, const Xmm& a) {
  const Xmm none = temp(from);
  zero(none);
  if (evex()) {
    compare_to_mask(ScalarOp::not_equal, from, a, none);
    return vpmovm2d(d, k2_);
  }
  if (!is_wide(from)) return compare_to_vector(ScalarOp::not_equal, from, d, a, none);
  const Xmm quads = temp(from);
  compare_to_vector(ScalarOp::not_equal, from, quads, a, none);
  narrow_quads(d, quads);
}

}  // namespace keratin::cpu

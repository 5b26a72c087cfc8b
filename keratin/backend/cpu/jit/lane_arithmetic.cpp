#include "keratin/backend/cpu/jit/lane_assembler.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::cpu {

void LaneAssembler::add_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
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

void LaneAssembler::subtract_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
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

void LaneAssembler::multiply_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
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

void LaneAssembler::divide_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b) {
  lane == Lane::f64 ? vdivpd(d, a, b) : vdivps(d, a, b);
}

void LaneAssembler::multiply_add(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a,
                                 const Operand& b) {
  const bool wide = lane == Lane::f64;
  if (op == ScalarOp::fma)
    wide ? vfmadd231pd(d, a, b) : vfmadd231ps(d, a, b);
  else if (op == ScalarOp::fms)
    wide ? vfmsub231pd(d, a, b) : vfmsub231ps(d, a, b);
  else
    wide ? vfnmadd231pd(d, a, b) : vfnmadd231ps(d, a, b);
}

// The instructions for floats give the second operand when there is a NaN in either.
void LaneAssembler::extremum_without_nan(Lane lane, bool max, const Xmm& d, const Xmm& a,
                                         const Xmm& b) {
  switch (lane) {
    case Lane::f32:
      return max ? vmaxps(d, a, b) : vminps(d, a, b);
    case Lane::f64:
      return max ? vmaxpd(d, a, b) : vminpd(d, a, b);
    case Lane::i32:
      return max ? vpmaxsd(d, a, b) : vpminsd(d, a, b);
    case Lane::mask:
      return max ? vorps(d, a, b) : vandps(d, a, b);
    case Lane::i64: {
      if (evex()) return max ? vpmaxsq(d, a, b) : vpminsq(d, a, b);
      const Xmm greater = sized(temp().getIdx(), d.getBit());
      vpcmpgtq(greater, a, b);
      return max ? vblendvpd(d, b, a, greater) : vblendvpd(d, a, b, greater);
    }
  }
}

// A NaN in the first operand is put back.
void LaneAssembler::extremum(Lane lane, bool max, const Xmm& d, const Xmm& a, const Xmm& b) {
  extremum_without_nan(lane, max, d, a, b);
  if (!is_real(lane)) return;
  constexpr int unordered = 3;
  const bool wide = lane == Lane::f64;
  if (evex()) {
    wide ? vcmppd(k2_, a, a, unordered) : vcmpps(k2_, a, a, unordered);
    return wide ? vmovapd(d | k2_, a) : vmovaps(d | k2_, a);
  }
  const Xmm nan = sized(temp().getIdx(), d.getBit());
  wide ? vcmppd(nan, a, a, unordered) : vcmpps(nan, a, a, unordered);
  wide ? vblendvpd(d, d, a, nan) : vblendvps(d, d, a, nan);
}

void LaneAssembler::square_root(Lane lane, const Xmm& d, const Xmm& a) {
  lane == Lane::f64 ? vsqrtpd(d, a) : vsqrtps(d, a);
}

void LaneAssembler::inverse_root(Lane lane, const Xmm& d, const Xmm& a) {
  const Xmm root = temp(lane);
  square_root(lane, root, a);
  broadcast(d, lane, constant(lane, 1));
  divide_lanes(lane, d, d, root);
}

void LaneAssembler::round_to(Lane lane, int mode, const Xmm& d, const Operand& a) {
  const auto imm = static_cast<uint8_t>(mode | 8);
  if (evex()) return lane == Lane::f64 ? vrndscalepd(d, a, imm) : vrndscaleps(d, a, imm);
  lane == Lane::f64 ? vroundpd(d, a, imm) : vroundps(d, a, imm);
}

void LaneAssembler::wrap_small(const Xmm& value, DType dtype) {
  if (dtype == DType::u8) return vandps(value, value, constant_bits(0xff));
  if (dtype != DType::i8) return;
  vpslld(value, value, 24);
  vpsrad(value, value, 24);
}

void LaneAssembler::negate(Lane lane, const Xmm& d, const Xmm& a) {
  if (lane == Lane::f32) return vxorps(d, a, constant_bits(1u << 31));
  if (lane == Lane::f64) return vxorpd(d, a, constant_bits64(uint64_t{1} << 63));
  zero(d);
  subtract_lanes(lane, d, d, a);
}

void LaneAssembler::absolute(Lane lane, const Xmm& d, const Xmm& a) {
  if (lane == Lane::f32) return vandps(d, a, constant_bits(~0u >> 1));
  if (lane == Lane::f64) return vandpd(d, a, constant_bits64(~uint64_t{0} >> 1));
  if (lane != Lane::i64) return vpabsd(d, a);
  const Xmm none = temp(lane);
  zero(none);
  const Xmm negative = temp(lane);
  subtract_lanes(lane, negative, none, a);
  extremum(lane, true, d, a, negative);
}

void LaneAssembler::relu(Lane lane, const Xmm& d, const Xmm& a) {
  if (is_real(lane)) {
    zero(d);
    return extremum_without_nan(lane, true, d, d, a);
  }
  const Xmm none = temp(lane);
  zero(none);
  extremum(lane, true, d, a, none);
}

void LaneAssembler::sign(Lane lane, const Xmm& d, const Xmm& a) {
  if (is_real(lane)) return real_sign(lane, d, a);
  const Xmm none = temp(lane);
  zero(none);
  const Xmm other = temp(lane);
  broadcast(other, lane, constant(lane, 1));
  extremum(lane, false, d, a, other);
  broadcast(other, lane, constant(lane, -1));
  extremum(lane, true, d, d, other);
}

// ±1 with the sign of x, or x itself where it is zero or NaN.
void LaneAssembler::real_sign(Lane lane, const Xmm& d, const Xmm& x) {
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
  if (evex()) {
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

void LaneAssembler::bit_not(const Xmm& d, const Xmm& a) {
  ones(d);
  vxorps(d, d, a);
}

void LaneAssembler::shift_left(Lane lane, const Xmm& d, const Xmm& a, const Xmm& b) {
  lane == Lane::i64 ? vpsllvq(d, a, b) : vpsllvd(d, a, b);
}

void LaneAssembler::shift_right(Lane lane, const Xmm& d, const Xmm& a, const Xmm& b) {
  if (lane == Lane::mask) return vandnps(d, b, a);
  lane == Lane::i64 ? vpsravq(d, a, b) : vpsravd(d, a, b);
}

// The bits of an i8 above the lowest 8 copy its sign; they must not be shifted in.
void LaneAssembler::shift_right_logical(DType dtype, const Xmm& d, const Xmm& a, const Xmm& b) {
  if (dtype == DType::i8) {
    vandps(d, a, constant_bits(0xff));
    return vpsrlvd(d, d, b);
  }
  dtype == DType::i64 ? vpsrlvq(d, a, b) : vpsrlvd(d, a, b);
}

}  // namespace keratin::cpu

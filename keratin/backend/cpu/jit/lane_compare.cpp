#include "keratin/backend/cpu/jit/lane_assembler.h"
#include "keratin/base/text.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::cpu {

namespace {

// Predicates of the float comparisons: false with a NaN, except not_equal.
int float_predicate(ScalarOp op) {
  switch (op) {
    case ScalarOp::equal:
      return 0x00;
    case ScalarOp::not_equal:
      return 0x04;
    case ScalarOp::less:
      return 0x11;
    case ScalarOp::less_equal:
      return 0x12;
    case ScalarOp::greater:
      return 0x1e;
    default:
      return 0x1d;  // greater_equal
  }
}

int integer_predicate(ScalarOp op) {
  switch (op) {
    case ScalarOp::equal:
      return 0;
    case ScalarOp::not_equal:
      return 4;
    case ScalarOp::less:
      return 1;
    case ScalarOp::less_equal:
      return 2;
    case ScalarOp::greater:
      return 6;
    default:
      return 5;  // greater_equal
  }
}

// True is all ones, which as an integer is less than false.
ScalarOp mirrored(ScalarOp op) {
  switch (op) {
    case ScalarOp::less:
      return ScalarOp::greater;
    case ScalarOp::less_equal:
      return ScalarOp::greater_equal;
    case ScalarOp::greater:
      return ScalarOp::less;
    case ScalarOp::greater_equal:
      return ScalarOp::less_equal;
    default:
      return op;
  }
}

}  // namespace

void LaneAssembler::compare_to_mask(ScalarOp op, Lane lane, const Xmm& a, const Operand& b) {
  switch (lane) {
    case Lane::f32:
      return vcmpps(k2_, a, b, float_predicate(op));
    case Lane::f64:
      return vcmppd(k2_, a, b, float_predicate(op));
    case Lane::i64:
      return vpcmpq(k2_, a, b, integer_predicate(op));
    case Lane::i32:
      return vpcmpd(k2_, a, b, integer_predicate(op));
    case Lane::mask:
      return vpcmpd(k2_, a, b, integer_predicate(mirrored(op)));
  }
}

// For AVX2: a mask in lanes of the operands' width.
void LaneAssembler::compare_to_vector(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a,
                                      const Xmm& b) {
  if (lane == Lane::f32) return vcmpps(d, a, b, float_predicate(op));
  if (lane == Lane::f64) return vcmppd(d, a, b, float_predicate(op));
  if (lane == Lane::mask) op = mirrored(op);
  const bool wide = lane == Lane::i64;
  const auto greater = [&](const Xmm& x, const Xmm& y) {
    wide ? vpcmpgtq(d, x, y) : vpcmpgtd(d, x, y);
  };
  bool inverted = false;
  switch (op) {
    case ScalarOp::equal:
    case ScalarOp::not_equal:
      wide ? vpcmpeqq(d, a, b) : vpcmpeqd(d, a, b);
      inverted = op == ScalarOp::not_equal;
      break;
    case ScalarOp::greater:
    case ScalarOp::less_equal:
      greater(a, b);
      inverted = op == ScalarOp::less_equal;
      break;
    default:
      greater(b, a);
      inverted = op == ScalarOp::greater_equal;
  }
  if (!inverted) return;
  const Xmm all = temp(lane);
  ones(all);
  vxorps(d, d, all);
}

void LaneAssembler::compare(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b) {
  if (evex()) {
    compare_to_mask(op, lane, a, b);
    vpmovm2d(d, k2_);
  } else if (is_wide(lane)) {
    const Xmm quads = temp(lane);
    compare_to_vector(op, lane, quads, a, b);
    narrow_quads(d, quads);
  } else {
    compare_to_vector(op, lane, d, a, b);
  }
}

void LaneAssembler::magnitude(Lane lane, const Xmm& d, const Xmm& a) {
  broadcast(d, lane,
            lane == Lane::f64 ? constant_bits64(~(uint64_t{1} << 63)) : constant_bits(~0u >> 1));
  vandps(d, d, a);
}

void LaneAssembler::choose(Lane lane, const Xmm& d, const Xmm& mask, const Xmm& yes,
                           const Xmm& no) {
  if (!evex()) {
    if (!is_wide(lane)) return vblendvps(d, no, yes, mask);
    const Xmm quads = temp(lane);
    vpmovsxdq(quads, mask);
    return vblendvpd(d, no, yes, quads);
  }
  if (!is_wide(lane)) {
    move(d, mask);
    return vpternlogd(d, yes, no, 0xca);
  }
  vpmovd2m(k2_, mask);
  vblendmpd(d | k2_, no, yes);
}

void LaneAssembler::compare_for_choice(ScalarOp op, Lane lane, const Xmm& a, const Operand& b) {
  compare_to_mask(op, lane, a, b);
}

void LaneAssembler::choose_by_comparison(Lane lane, const Xmm& d, const Xmm& yes, const Xmm& no) {
  is_wide(lane) ? vblendmpd(d | k2_, no, yes) : vblendmps(d | k2_, no, yes);
}

}  // namespace keratin::cpu

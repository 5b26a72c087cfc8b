#include "keratin/backend/cpu/jit/emitter.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

using Xbyak::Operand;

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

void Emitter::compare_to_mask(ScalarOp op, Lane lane, const Opmask& k, const Xmm& a,
                              const Operand& b) {
  switch (lane) {
    case Lane::f32:
      return vcmpps(k, a, b, float_predicate(op));
    case Lane::f64:
      return vcmppd(k, a, b, float_predicate(op));
    case Lane::i64:
      return vpcmpq(k, a, b, integer_predicate(op));
    case Lane::i32:
      return vpcmpd(k, a, b, integer_predicate(op));
    case Lane::mask:
      return vpcmpd(k, a, b, integer_predicate(mirrored(op)));
  }
}

// For AVX2: a mask in lanes of the operands' width.
void Emitter::compare_to_vector(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b) {
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

// Comparisons, and the tests of floats: |x| against infinity.
bool Emitter::emit_compare(const LoopInst& inst, int id) {
  const bool test =
      inst.op == ScalarOp::is_nan || inst.op == ScalarOp::is_inf || inst.op == ScalarOp::is_finite;
  if (!test && !is_comparison(inst.op)) return false;
  const Lane lane = values_[inst.args[0]].lane;
  const Xmm a = use(inst.args[0]);
  Xmm left = a, right = test ? a : use(inst.args[1]);
  ScalarOp op = inst.op;
  if (inst.op == ScalarOp::is_nan) {
    op = ScalarOp::not_equal;
  } else if (test) {
    left = temp(lane), right = temp(lane);
    const bool wide = lane == Lane::f64;
    broadcast(left, lane, wide ? constant_bits64(~(uint64_t{1} << 63)) : constant_bits(~0u >> 1));
    vandps(left, left, a);
    broadcast(right, lane, constant(lane, std::numeric_limits<double>::infinity()));
    op = inst.op == ScalarOp::is_inf ? ScalarOp::equal : ScalarOp::less;
  }
  const Xmm d = define(id);
  if (evex_) {
    compare_to_mask(op, lane, k2_, left, right);
    vpmovm2d(d, k2_);
  } else if (is_wide(lane)) {
    const Xmm quads = temp(lane);
    compare_to_vector(op, lane, quads, left, right);
    narrow_quads(d, quads);
  } else {
    compare_to_vector(op, lane, d, left, right);
  }
  return true;
}

void Emitter::choose(Lane lane, const Xmm& d, const Xmm& mask, const Xmm& yes, const Xmm& no) {
  if (!evex_) {
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

// With a comparison made for it alone, AVX-512 blends straight by its mask register.
void Emitter::emit_select(const LoopInst& inst, int id) {
  const Lane lane = values_[id].lane;
  const int condition = inst.args[0];
  if (!values_[condition].folded) {
    const Xmm mask = use(condition), yes = use(inst.args[1]), no = use(inst.args[2]);
    return choose(lane, define(id), mask, yes, no);
  }
  const LoopInst& compare = program_.inst(condition);
  const Lane compared = values_[compare.args[0]].lane;
  const Xmm a = use(compare.args[0]);
  const Source b = source(compare.args[1]);
  const Xmm yes = use(inst.args[1]), no = use(inst.args[2]);
  const Xmm d = define(id);
  compare_to_mask(compare.op, compared, k2_, a, *b);
  is_wide(lane) ? vblendmpd(d | k2_, no, yes) : vblendmps(d | k2_, no, yes);
}

}  // namespace keratin::cpu

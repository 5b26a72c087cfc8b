#include <cmath>
#include <limits>

#include "keratin/backend/cpu/jit/body_emitter.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {

// Whether small integers, which are computed in 32 bits, have to be brought back to their range.
bool leaves_range(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::bit_not:
    case ScalarOp::shift_left:
    case ScalarOp::shift_right_logical:
      return true;
    default:
      return false;
  }
}

}  // namespace

void BodyEmitter::emit(int id) {
  const LoopInst& inst = program_.inst(id);
  if (!has_code(program_, inst, code_.evex())) return emit_call(inst, id);
  if (inst.op == ScalarOp::select) return emit_select(inst, id);
  if (inst.op == ScalarOp::cast) return emit_cast(inst, id);
  const bool done = emit_unary(inst, id) || emit_binary(inst, id) || emit_bits(inst, id) ||
                    emit_multiply_add(inst, id) || emit_comparison(inst, id) ||
                    emit_test(inst, id) || emit_function(inst, id);
  ensure(done, "loop code: cannot emit ", name(inst.op), " of ", inst.dtype);
}

bool BodyEmitter::emit_unary(const LoopInst& inst, int id) {
  const Lane lane = value(id).lane;
  const auto with = [&](auto write) {
    const Xmm a = use(inst.args[0]);
    const Xmm d = code_.define(id);
    write(d, a);
    if (leaves_range(inst.op)) code_.wrap_small(d, inst.dtype);
    return true;
  };
  const auto rounding = [&](int mode) {
    return with([&](const Xmm& d, const Xmm& a) { code_.round_to(lane, mode, d, a); });
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
      return with([&](const Xmm& d, const Xmm& a) { code_.square_root(lane, d, a); });
    case ScalarOp::rsqrt:
      return with([&](const Xmm& d, const Xmm& a) { code_.inverse_root(lane, d, a); });
    case ScalarOp::neg:
      return with([&](const Xmm& d, const Xmm& a) { code_.negate(lane, d, a); });
    case ScalarOp::abs:
      return with([&](const Xmm& d, const Xmm& a) { code_.absolute(lane, d, a); });
    case ScalarOp::sign:
      return with([&](const Xmm& d, const Xmm& a) { code_.sign(lane, d, a); });
    case ScalarOp::relu:
      return with([&](const Xmm& d, const Xmm& a) { code_.relu(lane, d, a); });
    case ScalarOp::bit_not:
      return with([&](const Xmm& d, const Xmm& a) { code_.bit_not(d, a); });
    default:
      return false;
  }
}

bool BodyEmitter::emit_binary(const LoopInst& inst, int id) {
  const Lane lane = value(id).lane;
  int left = inst.args[0], right = inst.args[1];
  const auto with = [&](auto write) {
    const Xmm a = use(left);
    const Source b = source(right);
    const Xmm d = code_.define(id);
    write(d, a, *b);
    if (leaves_range(inst.op)) code_.wrap_small(d, inst.dtype);
    return true;
  };
  switch (inst.op) {
    case ScalarOp::add:
    case ScalarOp::mul: {
      // An operand that is in memory goes to the right, where the instruction can read it there.
      const bool in_memory = !code_.in_register(left) && (code_.in_slot(left) || is_constant(left));
      if (in_memory) std::swap(left, right);
      return with([&](const Xmm& d, const Xmm& a, const Operand& b) {
        inst.op == ScalarOp::add ? code_.add_lanes(lane, d, a, b)
                                 : code_.multiply_lanes(lane, d, a, b);
      });
    }
    case ScalarOp::sub:
      return with([&](const Xmm& d, const Xmm& a, const Operand& b) {
        code_.subtract_lanes(lane, d, a, b);
      });
    case ScalarOp::div:
    case ScalarOp::floor_div:
      return with([&](const Xmm& d, const Xmm& a, const Operand& b) {
        code_.divide_lanes(lane, d, a, b);
        if (inst.op == ScalarOp::floor_div) code_.round_to(lane, 1, d, d);
      });
    case ScalarOp::maximum:
    case ScalarOp::minimum:
      emit_extremum(inst, id);
      return true;
    default:
      return false;
  }
}

// A constant goes to the left: one that is no NaN needs no check for it.
void BodyEmitter::emit_extremum(const LoopInst& inst, int id) {
  const Lane lane = value(id).lane;
  const bool max = inst.op == ScalarOp::maximum;
  int left = inst.args[0], right = inst.args[1];
  if (is_constant(right)) std::swap(left, right);
  const Xmm a = use(left), b = use(right);
  const Xmm d = code_.define(id);
  const bool number = is_real(lane) && is_constant(left) && !std::isnan(program_.inst(left).real);
  number ? code_.extremum_without_nan(lane, max, d, a, b) : code_.extremum(lane, max, d, a, b);
}

bool BodyEmitter::emit_bits(const LoopInst& inst, int id) {
  const Lane lane = value(id).lane;
  const auto with = [&](auto write) {
    const Xmm a = use(inst.args[0]), b = use(inst.args[1]);
    const Xmm d = code_.define(id);
    write(d, a, b);
    if (leaves_range(inst.op)) code_.wrap_small(d, inst.dtype);
    return true;
  };
  switch (inst.op) {
    case ScalarOp::bit_and:
      return with([&](const Xmm& d, const Xmm& a, const Xmm& b) { code_.vandps(d, a, b); });
    case ScalarOp::bit_or:
      return with([&](const Xmm& d, const Xmm& a, const Xmm& b) { code_.vorps(d, a, b); });
    case ScalarOp::bit_xor:
      return with([&](const Xmm& d, const Xmm& a, const Xmm& b) { code_.vxorps(d, a, b); });
    case ScalarOp::shift_left:
      return with(
          [&](const Xmm& d, const Xmm& a, const Xmm& b) { code_.shift_left(lane, d, a, b); });
    case ScalarOp::shift_right:
      return with(
          [&](const Xmm& d, const Xmm& a, const Xmm& b) { code_.shift_right(lane, d, a, b); });
    case ScalarOp::shift_right_logical:
      return with([&](const Xmm& d, const Xmm& a, const Xmm& b) {
        code_.shift_right_logical(inst.dtype, d, a, b);
      });
    default:
      return false;
  }
}

// The result's register starts as a copy of the operand that is added.
bool BodyEmitter::emit_multiply_add(const LoopInst& inst, int id) {
  if (inst.op != ScalarOp::fma && inst.op != ScalarOp::fms && inst.op != ScalarOp::fnma)
    return false;
  int left = inst.args[0], right = inst.args[1];
  if (is_constant(left)) std::swap(left, right);
  const Xmm a = use(left), c = use(inst.args[2]);
  const Source b = source(right);
  const Xmm d = code_.define(id);
  code_.move(d, c);
  code_.multiply_add(inst.op, value(id).lane, d, a, *b);
  return true;
}

bool BodyEmitter::emit_comparison(const LoopInst& inst, int id) {
  if (!is_comparison(inst.op)) return false;
  const Xmm a = use(inst.args[0]), b = use(inst.args[1]);
  const Xmm d = code_.define(id);
  code_.compare(inst.op, value(inst.args[0]).lane, d, a, b);
  return true;
}

// NaN differs from itself; the other tests compare |x| with infinity.
bool BodyEmitter::emit_test(const LoopInst& inst, int id) {
  const Lane lane = value(inst.args[0]).lane;
  if (inst.op == ScalarOp::is_nan) {
    const Xmm a = use(inst.args[0]);
    const Xmm d = code_.define(id);
    code_.compare(ScalarOp::not_equal, lane, d, a, a);
    return true;
  }
  if (inst.op != ScalarOp::is_inf && inst.op != ScalarOp::is_finite) return false;
  const Xmm a = use(inst.args[0]);
  const Xmm magnitude = code_.temp(lane), infinity = code_.temp(lane);
  code_.magnitude(lane, magnitude, a);
  code_.broadcast(infinity, lane, code_.constant(lane, std::numeric_limits<double>::infinity()));
  const Xmm d = code_.define(id);
  code_.compare(inst.op == ScalarOp::is_inf ? ScalarOp::equal : ScalarOp::less, lane, d, magnitude,
                infinity);
  return true;
}

bool BodyEmitter::emit_function(const LoopInst& inst, int id) {
  if (!LaneAssembler::has_function(inst.op)) return false;
  const Xmm x = use(inst.args[0]);
  code_.apply_function(inst.op, code_.define(id), x);
  return true;
}

void BodyEmitter::emit_cast(const LoopInst& inst, int id) {
  const LoopValue& from = value(inst.args[0]);
  const Xmm a = use(inst.args[0]);
  const Xmm d = code_.define(id);
  from.dtype == inst.dtype ? code_.move(d, a) : code_.convert(from.lane, inst.dtype, d, a);
}

// With a comparison made for it alone, AVX-512 blends straight by its mask register.
void BodyEmitter::emit_select(const LoopInst& inst, int id) {
  const Lane lane = value(id).lane;
  const int condition = inst.args[0];
  if (!value(condition).folded) {
    const Xmm mask = use(condition), yes = use(inst.args[1]), no = use(inst.args[2]);
    return code_.choose(lane, code_.define(id), mask, yes, no);
  }
  const LoopInst& comparison = program_.inst(condition);
  const Lane compared = value(comparison.args[0]).lane;
  const Xmm a = use(comparison.args[0]);
  const Source b = source(comparison.args[1]);
  const Xmm yes = use(inst.args[1]), no = use(inst.args[2]);
  const Xmm d = code_.define(id);
  code_.compare_for_choice(comparison.op, compared, a, *b);
  code_.choose_by_comparison(lane, d, yes, no);
}

}  // namespace keratin::cpu

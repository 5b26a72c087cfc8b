#include "keratin/backend/cpu/jit/loop_analysis.h"

#include <algorithm>

#include "keratin/backend/cpu/jit/lane_assembler.h"

namespace keratin::cpu {

namespace {

LoopLevel input_level(const LoopNest& nest, size_t input) {
  if (nest.column_stride(input) != 0) return LoopLevel::column;
  return nest.row_stride(input) != 0 ? LoopLevel::row : LoopLevel::call;
}

// A comparison used once, by a select, is made there: its operands live until then.
void fold_comparisons(const LoopProgram& program, std::vector<LoopValue>& values) {
  for (int id = static_cast<int>(program.inputs.size()); id < program.value_count(); ++id) {
    LoopValue& v = values[size_t(id)];
    const LoopInst& inst = program.inst(id);
    if (!is_comparison(inst.op) || v.users.size() != 1 || v.users[0] == program.value_count())
      continue;
    const int user = v.users[0];
    const LoopInst& select = program.inst(user);
    if (select.op != ScalarOp::select || select.args[0] != id || select.args[1] == id ||
        select.args[2] == id || values[size_t(user)].level != v.level)
      continue;
    v.folded = true;
    for (size_t i = 0; i < 2; ++i) {
      std::vector<int>& users = values[size_t(inst.args[i])].users;
      std::replace(users.begin(), users.end(), id, user);
    }
  }
}

}  // namespace

LoopAnalysis analyse(const LoopNest& nest, bool evex) {
  const LoopProgram& program = nest.program;
  const int count = program.value_count();
  LoopAnalysis all;
  all.values.resize(size_t(count));
  bool wide = false;
  for (int id = 0; id < count; ++id) {
    LoopValue& v = all.values[size_t(id)];
    v.dtype = program.dtype_of(id);
    v.lane = lane_of(v.dtype);
    wide |= is_wide(v.lane);
    if (program.is_input(id)) {
      v.level = input_level(nest, size_t(id));
      continue;
    }
    const LoopInst& inst = program.inst(id);
    v.level = inst.op == ScalarOp::constant ? LoopLevel::constant : LoopLevel::call;
    for (int i = 0; i < operand_count(inst.op); ++i) {
      LoopValue& arg = all.values[size_t(inst.args[size_t(i)])];
      v.level = std::max(v.level, arg.level);
      arg.users.push_back(id);
    }
    all.calls |= !has_code(program, inst, evex);
  }
  for (const LoopOutput& out : program.outputs)
    all.values[size_t(out.value)].users.push_back(count);
  all.lanes = (evex ? 16 : 8) / (wide ? 2 : 1);
  if (evex) fold_comparisons(program, all.values);
  for (LoopValue& v : all.values) std::sort(v.users.begin(), v.users.end());
  return all;
}

bool has_code(const LoopProgram& program, const LoopInst& inst, bool evex) {
  if (inst.op == ScalarOp::constant || inst.op == ScalarOp::select) return true;
  const Lane from = lane_of(program.dtype_of(inst.args[0])), to = lane_of(inst.dtype);
  switch (inst.op) {
    case ScalarOp::cast:
      return evex || !((from == Lane::i64 && is_real(to)) || (is_real(from) && to == Lane::i64));
    case ScalarOp::mul:
    case ScalarOp::shift_right:
      return evex || from != Lane::i64;
    case ScalarOp::div:
    case ScalarOp::floor_div:
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::round:
    case ScalarOp::trunc:
    case ScalarOp::is_nan:
    case ScalarOp::is_inf:
    case ScalarOp::is_finite:
    case ScalarOp::fma:
    case ScalarOp::fms:
    case ScalarOp::fnma:
      return is_real(from);
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::maximum:
    case ScalarOp::minimum:
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::bit_not:
    case ScalarOp::shift_left:
    case ScalarOp::shift_right_logical:
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::sign:
    case ScalarOp::relu:
      return true;
    default:
      return is_comparison(inst.op) || (from == Lane::f32 && LaneAssembler::has_function(inst.op));
  }
}

}  // namespace keratin::cpu

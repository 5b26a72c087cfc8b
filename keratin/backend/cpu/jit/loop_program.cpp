#include "keratin/backend/cpu/jit/loop_program.h"

#include <sstream>

#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {

void check_inst(const LoopProgram& p, int32_t id) {
  const LoopInst& inst = p.inst(id);
  const int count = operand_count(inst.op);
  for (int i = 0; i < 3; ++i) {
    const int32_t arg = inst.args[static_cast<size_t>(i)];
    ensure(i < count ? arg >= 0 && arg < id : arg == -1, "loop program: operand ", i, " of ",
           name(inst.op), " (value ", id, ") must be an earlier value, got ", arg);
  }
  if (inst.op == ScalarOp::constant || inst.op == ScalarOp::cast) return;
  const int first = inst.op == ScalarOp::select ? 1 : 0;
  const DType operand = p.operand_dtype(inst);
  for (int i = first + 1; i < count; ++i)
    ensure(p.dtype_of(inst.args[static_cast<size_t>(i)]) == operand, "loop program: operands of ",
           name(inst.op), " (value ", id, ") must share a dtype");
  if (first == 1)
    ensure(p.dtype_of(inst.args[0]) == DType::boolean, "loop program: select needs a bool");
  ensure(inst.dtype == (scalar_def(inst.op).gives_boolean ? DType::boolean : operand),
         "loop program: ", name(inst.op), " (value ", id, ") of ", operand, " cannot give ",
         inst.dtype);
}

}  // namespace

std::string_view name(Reduce kind) {
  constexpr std::array<std::string_view, 5> names = {"store", "sum", "prod", "max", "min"};
  return names[static_cast<size_t>(kind)];
}

int32_t LoopProgram::add_input(DType dtype, LoopDims strides) {
  ensure(body.empty(), "loop program: inputs come before instructions");
  inputs.push_back({dtype, strides});
  return static_cast<int32_t>(inputs.size()) - 1;
}

int32_t LoopProgram::add_input(DType dtype) {
  LoopDims strides{};
  int64_t step = 1;
  for (int d = rank; d-- > 0;) {
    strides[static_cast<size_t>(d)] = step;
    step *= dims[static_cast<size_t>(d)];
  }
  return add_input(dtype, strides);
}

int32_t LoopProgram::add_constant(DType dtype, double value) {
  LoopInst inst{.dtype = dtype};
  if (is_float(dtype))
    inst.real = value;
  else
    inst.integer = static_cast<int64_t>(value);
  body.push_back(inst);
  return value_count() - 1;
}

int32_t LoopProgram::add(ScalarOp op, DType dtype, int32_t a, int32_t b, int32_t c) {
  body.push_back({.op = op, .dtype = dtype, .args = {a, b, c}});
  return value_count() - 1;
}

int32_t LoopProgram::add(ScalarOp op, int32_t a, int32_t b, int32_t c) {
  const DType operand = dtype_of(op == ScalarOp::select ? b : a);
  return add(op, scalar_def(op).gives_boolean ? DType::boolean : operand, a, b, c);
}

DType LoopProgram::dtype_of(int32_t value) const {
  return is_input(value) ? inputs[static_cast<size_t>(value)].dtype : inst(value).dtype;
}

int64_t LoopProgram::element_count() const {
  int64_t count = 1;
  for (int d = 0; d < rank; ++d) count *= dims[static_cast<size_t>(d)];
  return count;
}

int64_t LoopProgram::element_count(const LoopOutput& output) const {
  int64_t count = 1;
  for (int d = 0; d < rank; ++d)
    if (!(output.reduced >> d & 1)) count *= dims[static_cast<size_t>(d)];
  return count;
}

void check(const LoopProgram& p) {
  ensure(p.rank >= 0 && p.rank <= max_loop_dims, "loop program: rank ", p.rank, " is not in 0..8");
  for (int32_t id = static_cast<int32_t>(p.inputs.size()); id < p.value_count(); ++id)
    check_inst(p, id);
  for (const LoopOutput& out : p.outputs) {
    ensure(out.value >= 0 && out.value < p.value_count(), "loop program: output of no value");
    ensure(out.reduced < 1u << p.rank, "loop program: reduces an axis that is not there");
    ensure(out.reduce != Reduce::none || out.reduced == 0, "loop program: a store reduces nothing");
  }
}

std::string describe(const LoopProgram& p) {
  std::ostringstream out;
  out << "loop [";
  for (int d = 0; d < p.rank; ++d) out << (d ? ", " : "") << p.dims[static_cast<size_t>(d)];
  out << "]\n";
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    out << "  %" << i << " = input " << p.inputs[i].dtype << " strides [";
    for (int d = 0; d < p.rank; ++d)
      out << (d ? ", " : "") << p.inputs[i].strides[static_cast<size_t>(d)];
    out << "]\n";
  }
  for (int32_t id = static_cast<int32_t>(p.inputs.size()); id < p.value_count(); ++id) {
    const LoopInst& inst = p.inst(id);
    out << "  %" << id << " = " << name(inst.op) << ' ' << inst.dtype;
    for (int i = 0; i < operand_count(inst.op); ++i)
      out << " %" << inst.args[static_cast<size_t>(i)];
    if (inst.op == ScalarOp::constant) {
      out << ' ';
      is_float(inst.dtype) ? out << inst.real : out << inst.integer;
    }
    out << '\n';
  }
  for (const LoopOutput& o : p.outputs) {
    out << "  " << name(o.reduce) << ' ' << o.dtype << " %" << o.value;
    if (o.reduce != Reduce::none) out << " axes " << o.reduced;
    out << '\n';
  }
  return out.str();
}

}  // namespace keratin::cpu

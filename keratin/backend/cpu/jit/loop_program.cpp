#include "keratin/backend/cpu/jit/loop_program.h"

#include <sstream>

#include "keratin/base/text.h"
#include "keratin/ops/scalar.h"

namespace keratin::cpu {

namespace {

// clang-format off
constexpr std::array<std::string_view, loop_op_count> op_names = {
    "add", "sub", "mul", "div", "mod", "floor_div", "maximum", "minimum", "pow", "atan2",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
    "bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right", "shift_right_logical",
    "select",
    "neg", "abs", "sign", "relu",
    "floor", "ceil", "round", "trunc", "sqrt", "rsqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfinv", "sigmoid",
    "is_nan", "is_inf", "is_finite",
    "cast",
    "constant",
    "fma",
    "fms",
    "fnma",
};
// clang-format on

static_assert(static_cast<int>(LoopOp::select) == static_cast<int>(ScalarOp::select));
static_assert(static_cast<int>(LoopOp::cast) == static_cast<int>(ScalarOp::cast));

bool gives_boolean(LoopOp op) {
  return is_compare(op) || op == LoopOp::is_nan || op == LoopOp::is_inf || op == LoopOp::is_finite;
}

void check_inst(const LoopProgram& p, int32_t id) {
  const LoopInst& inst = p.inst(id);
  const int count = operand_count(inst.op);
  for (int i = 0; i < 3; ++i) {
    const int32_t arg = inst.args[static_cast<size_t>(i)];
    ensure(i < count ? arg >= 0 && arg < id : arg == -1, "loop program: operand ", i, " of ",
           name(inst.op), " (value ", id, ") must be an earlier value, got ", arg);
  }
  if (inst.op == LoopOp::constant || inst.op == LoopOp::cast) return;
  const bool boolean_result = gives_boolean(inst.op);
  const int first = inst.op == LoopOp::select ? 1 : 0;
  const DType operand = p.dtype_of(inst.args[static_cast<size_t>(first)]);
  for (int i = first + 1; i < count; ++i)
    ensure(p.dtype_of(inst.args[static_cast<size_t>(i)]) == operand, "loop program: operands of ",
           name(inst.op), " (value ", id, ") must share a dtype");
  if (first == 1)
    ensure(p.dtype_of(inst.args[0]) == DType::boolean, "loop program: select needs a bool");
  ensure(inst.dtype == (boolean_result ? DType::boolean : operand), "loop program: ", name(inst.op),
         " (value ", id, ") of ", operand, " cannot give ", inst.dtype);
}

}  // namespace

std::string_view name(LoopOp op) { return op_names[static_cast<size_t>(op)]; }

int operand_count(LoopOp op) {
  if (op == LoopOp::constant) return 0;
  if (op == LoopOp::bit_not) return 1;
  if (op < LoopOp::select) return 2;
  return op == LoopOp::select || op > LoopOp::constant ? 3 : 1;
}

bool is_compare(LoopOp op) { return op >= LoopOp::equal && op <= LoopOp::greater_equal; }

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

int32_t LoopProgram::add(LoopOp op, DType dtype, int32_t a, int32_t b, int32_t c) {
  body.push_back({.op = op, .dtype = dtype, .args = {a, b, c}});
  return value_count() - 1;
}

int32_t LoopProgram::add(LoopOp op, int32_t a, int32_t b, int32_t c) {
  const DType operand = dtype_of(op == LoopOp::select ? b : a);
  return add(op, gives_boolean(op) ? DType::boolean : operand, a, b, c);
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
    if (inst.op == LoopOp::constant) {
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

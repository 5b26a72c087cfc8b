#include "keratin/backend/cpu/jit/loop_nest.h"

#include <algorithm>
#include <optional>
#include <span>

#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {

std::span<int32_t> operands(LoopInst& inst) {
  return std::span(inst.args).first(static_cast<size_t>(operand_count(inst.op)));
}

std::vector<int32_t> count_uses(LoopProgram& p) {
  std::vector<int32_t> uses(static_cast<size_t>(p.value_count()));
  for (LoopInst& inst : p.body)
    for (int32_t arg : operands(inst)) ++uses[static_cast<size_t>(arg)];
  for (const LoopOutput& out : p.outputs) ++uses[static_cast<size_t>(out.value)];
  return uses;
}

// add(mul(a, b), c) -> fma(a, b, c); sub(mul(a, b), c) -> fms; sub(c, mul(a, b)) -> fnma.
void contract_products(LoopProgram& p) {
  const std::vector<int32_t> uses = count_uses(p);
  const auto multiply = [&](int32_t value) -> const LoopInst* {
    if (p.is_input(value) || uses[static_cast<size_t>(value)] != 1) return nullptr;
    return p.inst(value).op == ScalarOp::mul ? &p.inst(value) : nullptr;
  };
  for (LoopInst& inst : p.body) {
    if (!is_float(inst.dtype) || (inst.op != ScalarOp::add && inst.op != ScalarOp::sub)) continue;
    const bool add = inst.op == ScalarOp::add;
    if (const LoopInst* left = multiply(inst.args[0])) {
      inst.op = add ? ScalarOp::fma : ScalarOp::fms;
      inst.args = {left->args[0], left->args[1], inst.args[1]};
    } else if (const LoopInst* right = multiply(inst.args[1])) {
      inst.op = add ? ScalarOp::fma : ScalarOp::fnma;
      inst.args = {right->args[0], right->args[1], inst.args[0]};
    }
  }
}

// Stores do not convert, so a conversion becomes an instruction.
void convert_stores(LoopProgram& p) {
  for (LoopOutput& out : p.outputs)
    if (out.reduce == Reduce::none && out.dtype != p.dtype_of(out.value))
      out.value = p.add(ScalarOp::cast, out.dtype, out.value);
}

void drop_dead_code(LoopProgram& p) {
  const auto inputs = static_cast<int32_t>(p.inputs.size());
  std::vector<bool> live(static_cast<size_t>(p.value_count()));
  for (const LoopOutput& out : p.outputs) live[static_cast<size_t>(out.value)] = true;
  for (int32_t id = p.value_count(); id-- > inputs;) {
    if (!live[static_cast<size_t>(id)]) continue;
    for (int32_t arg : operands(p.body[static_cast<size_t>(id - inputs)]))
      live[static_cast<size_t>(arg)] = true;
  }
  std::vector<int32_t> renumbered(static_cast<size_t>(p.value_count()));
  std::vector<LoopInst> kept;
  for (int32_t id = 0; id < p.value_count(); ++id) {
    renumbered[static_cast<size_t>(id)] = id < inputs ? id : inputs + int32_t(kept.size());
    if (id >= inputs && live[static_cast<size_t>(id)]) kept.push_back(p.inst(id));
  }
  for (LoopInst& inst : kept)
    for (int32_t& arg : operands(inst)) arg = renumbered[static_cast<size_t>(arg)];
  for (LoopOutput& out : p.outputs) out.value = renumbered[static_cast<size_t>(out.value)];
  p.body = std::move(kept);
}

LoopDims output_strides(const LoopProgram& p, const LoopOutput& out, int64_t element) {
  LoopDims strides{};
  int64_t step = element;
  for (int d = p.rank; d-- > 0;) {
    if (out.reduced >> d & 1) continue;
    strides[static_cast<size_t>(d)] = step;
    step *= p.dims[static_cast<size_t>(d)];
  }
  return strides;
}

std::vector<LoopPointer> make_pointers(const LoopProgram& p) {
  std::vector<LoopPointer> pointers;
  for (const LoopInput& input : p.inputs) {
    pointers.push_back({input.dtype, input.strides});
    for (int64_t& stride : pointers.back().strides) stride *= int64_t(size_of(input.dtype));
  }
  for (const LoopOutput& out : p.outputs) {
    const DType dtype =
        out.reduce == Reduce::none ? out.dtype : accumulator_dtype(p.dtype_of(out.value));
    pointers.push_back({dtype, output_strides(p, out, int64_t(size_of(dtype)))});
  }
  return pointers;
}

// Rebuilds the dims of a nest one at a time, outermost first, merging each into the one before.
class DimMerger {
 public:
  explicit DimMerger(LoopNest& nest) : from_(nest), to_(nest.pointers) {
    for (LoopPointer& pointer : to_) pointer.strides = {};
    outputs_ = nest.program.outputs;
    for (LoopOutput& out : outputs_) out.reduced = 0;
  }

  void take(int d) {
    const int64_t size = from_.program.dims[static_cast<size_t>(d)];
    if (size == 1) return;
    if (rank_ == 0 || !mergeable(d, size)) {
      dims_[static_cast<size_t>(rank_++)] = 1;
    }
    const auto last = static_cast<size_t>(rank_ - 1);
    dims_[last] *= size;
    for (size_t i = 0; i < to_.size(); ++i) to_[i].strides[last] = stride(i, d);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const bool reduced = from_.program.outputs[i].reduced >> d & 1;
      outputs_[i].reduced |= uint32_t{reduced} << last;
    }
  }

  void finish() {
    while (rank_ < 2) prepend_unit_dim();
    from_.program.rank = rank_;
    from_.program.dims = dims_;
    from_.program.outputs = std::move(outputs_);
    from_.pointers = std::move(to_);
    for (size_t i = 0; i < from_.program.inputs.size(); ++i) {
      LoopInput& input = from_.program.inputs[i];
      input.strides = from_.pointers[i].strides;
      for (int64_t& stride : input.strides) stride /= int64_t(size_of(input.dtype));
    }
  }

 private:
  int64_t stride(size_t pointer, int d) const {
    return from_.pointers[pointer].strides[static_cast<size_t>(d)];
  }

  // A nest without elements never runs, so its strides do not matter.
  bool mergeable(int d, int64_t size) const {
    if (from_.program.element_count() == 0) return false;
    const auto last = static_cast<size_t>(rank_ - 1);
    for (size_t i = 0; i < to_.size(); ++i)
      if (to_[i].strides[last] != stride(i, d) * size) return false;
    return true;
  }

  void prepend_unit_dim() {
    const auto shift = [](LoopDims& values, int64_t first) {
      std::shift_right(values.begin(), values.end(), 1);
      values[0] = first;
    };
    shift(dims_, 1);
    for (LoopPointer& pointer : to_) shift(pointer.strides, 0);
    for (LoopOutput& out : outputs_) out.reduced <<= 1;
    ++rank_;
  }

  LoopNest& from_;
  std::vector<LoopPointer> to_;
  std::vector<LoopOutput> outputs_;
  LoopDims dims_{};
  int rank_ = 0;
};

}  // namespace

int64_t LoopNest::rows() const {
  int64_t count = 1;
  for (int d = 0; d + 1 < program.rank; ++d) count *= program.dims[static_cast<size_t>(d)];
  return count;
}

std::vector<int64_t> LoopNest::row_strides() const {
  std::vector<int64_t> strides;
  for (size_t i = 0; i < pointers.size(); ++i) strides.push_back(row_stride(i));
  return strides;
}

DType accumulator_dtype(DType value) {
  switch (value) {
    case DType::f64:
    case DType::i64:
      return value;
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return DType::f32;
    case DType::i8:
    case DType::u8:
    case DType::i32:
    case DType::boolean:
    case DType::string:
      break;
  }
  return DType::i32;
}

LoopNest make_nest(LoopProgram program, bool contract) {
  check(program);
  convert_stores(program);
  if (contract) contract_products(program);
  drop_dead_code(program);
  LoopNest nest{std::move(program), {}, {}};
  nest.pointers = make_pointers(nest.program);
  DimMerger merger(nest);
  for (int d = 0; d < nest.program.rank; ++d) merger.take(d);
  merger.finish();
  nest.overwrites.resize(nest.program.outputs.size());
  return nest;
}

}  // namespace keratin::cpu

#include "keratin/backend/cpu/jit/code_nest.h"

#include "keratin/base/hash.h"

namespace keratin::cpu {

namespace {

using detail::mix;

// The longest rows that any instruction set writes out: four vectors of 16.
constexpr int64_t longest_short_row = 64;
// Placeholders in the key: any number of columns, and any distance between rows but 0.
constexpr int64_t many_columns = int64_t{1} << 40;
constexpr int64_t any_stride = int64_t{1} << 40;

size_t number(auto value) { return static_cast<size_t>(value); }

size_t hash_body(size_t seed, const LoopProgram& program) {
  for (const LoopInput& input : program.inputs) seed = mix(seed, number(input.dtype));
  for (const LoopInst& inst : program.body) {
    seed = mix(mix(seed, number(inst.op)), number(inst.dtype));
    for (const int32_t arg : inst.args) seed = mix(seed, number(arg));
    seed = mix(mix(seed, number(inst.bits())), number(inst.integer));
  }
  for (const LoopOutput& out : program.outputs)
    seed = mix(mix(mix(seed, number(out.value)), number(out.dtype)), number(out.reduce));
  return seed;
}

}  // namespace

size_t CodeNest::hash() const {
  size_t seed = mix(mix(number(isa), number(stream)), number(nest.columns()));
  for (size_t i = 0; i < nest.pointers.size(); ++i)
    seed = mix(mix(seed, number(nest.row_stride(i))), number(nest.column_stride(i)));
  return hash_body(seed, nest.program);
}

CodeNest code_nest(const LoopNest& nest, LoopIsa isa, bool stream) {
  CodeNest code{.nest = nest, .isa = isa, .stream = stream};
  LoopProgram& program = code.nest.program;
  const bool fixed = nest.whole_rows && nest.columns() <= longest_short_row;
  code.nest.strides_in_block = !fixed;
  program.rank = 2;
  program.dims = {1, fixed ? nest.columns() : many_columns};
  for (size_t i = 0; i < nest.pointers.size(); ++i) {
    const int64_t row = nest.row_stride(i);
    code.nest.pointers[i].strides = {fixed || row == 0 ? row : any_stride, nest.column_stride(i)};
  }
  for (LoopInput& input : program.inputs) input.strides = {};
  for (LoopOutput& out : program.outputs) out.reduced = 0;
  return code;
}

}  // namespace keratin::cpu

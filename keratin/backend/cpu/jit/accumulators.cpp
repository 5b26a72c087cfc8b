#include "keratin/backend/cpu/jit/accumulators.h"

#include <limits>

namespace keratin::cpu {

void Accumulators::reserve(Copies copies) {
  copies_ = copies;
  int left = max_accumulators(code_.evex());
  for (const bool columns : {false, true}) {
    for (size_t i = 0; i < nest_.program.outputs.size(); ++i) {
      const LoopOutput& out = nest_.program.outputs[i];
      const size_t pointer = nest_.program.inputs.size() + i;
      const bool per_row = nest_.row_stride(pointer) != 0;
      if (out.reduce == Reduce::none || (nest_.column_stride(pointer) != 0) != columns) continue;
      const int needed = columns ? copies.row_vectors : copies.unroll;
      if (columns && (needed == 0 || per_row || needed > left)) continue;
      left -= needed;
      const Lane lane = analysis_.values[size_t(out.value)].lane;
      Accumulator a{i, pointer, out.reduce, lane, per_row, columns, {}};
      for (int k = 0; k < needed; ++k) a.registers.push_back(code_.reserve(lane));
      all_.push_back(std::move(a));
    }
  }
}

// The constant that leaves a fold as it is.
Address Accumulators::neutral(Reduce kind, Lane lane) {
  const bool max = kind == Reduce::max;
  switch (kind) {
    case Reduce::none:
    case Reduce::sum:
      return code_.constant(lane, 0);
    case Reduce::prod:
      return code_.constant(lane, 1);
    case Reduce::max:
    case Reduce::min:
      break;
  }
  switch (lane) {
    case Lane::f32:
    case Lane::f64: {
      const double infinity = std::numeric_limits<double>::infinity();
      return code_.constant(lane, max ? -infinity : infinity);
    }
    case Lane::i32:
      return code_.constant_bits(max ? 1u << 31 : ~0u >> 1);
    case Lane::i64:
      return code_.constant_bits64(max ? uint64_t{1} << 63 : ~uint64_t{0} >> 1);
    case Lane::mask:
      break;
  }
  return code_.constant_bits(max ? 0u : ~0u);
}

// d = a folded with b; d is neither of them.
void Accumulators::fold(Reduce kind, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b) {
  switch (kind) {
    case Reduce::none:
    case Reduce::sum:
      return code_.add_lanes(lane, d, a, b);
    case Reduce::prod:
      return code_.multiply_lanes(lane, d, a, b);
    case Reduce::max:
    case Reduce::min:
      return code_.extremum(lane, kind == Reduce::max, d, a, b);
  }
}

void Accumulators::clear(bool per_row) {
  for (const Accumulator& a : all_)
    if (a.per_row == per_row && !a.columns)
      for (int reg : a.registers)
        code_.broadcast(code_.view(reg, a.lane), a.lane, neutral(a.kind, a.lane));
}

void Accumulators::fold_outputs(int copy, bool tail) {
  for (size_t i = 0; i < nest_.program.outputs.size(); ++i) {
    const LoopOutput& out = nest_.program.outputs[i];
    if (out.reduce == Reduce::none) continue;
    const Xmm value = body_.use(out.value);
    const Accumulator* a = find(i);
    if (a == nullptr) {
      fold_column(i, value, copy, tail);
    } else {
      // Lanes beyond a tail are never stored when there is one accumulator per column.
      const bool partial = tail && !a->columns;
      const size_t own = a->columns ? size_t(copy) : size_t(copy) % a->registers.size();
      const Xmm acc = code_.view(a->registers[partial ? 0 : own], a->lane);
      const bool simple = !partial && (a->kind == Reduce::sum || a->kind == Reduce::prod);
      const Xmm updated = simple ? acc : code_.temp(a->lane);
      fold(a->kind, a->lane, updated, acc, value);
      if (!simple) partial ? code_.keep_tail(a->lane, acc, updated) : code_.move(acc, updated);
    }
    code_.release_temps();
  }
}

const Accumulators::Accumulator* Accumulators::find(size_t output) const {
  for (const Accumulator& a : all_)
    if (a.output == output) return &a;
  return nullptr;
}

// Accumulators of columns: into registers before the first row, back after the last.
void Accumulators::move_columns(bool load) {
  code_.forget_registers();
  for (const Accumulator& a : all_) {
    if (!a.columns) continue;
    const DType dtype = nest_.pointers[a.pointer].dtype;
    for (int copy = 0; copy < static_cast<int>(a.registers.size()); ++copy) {
      const bool tail = copies_.row_tail && copy == copies_.row_vectors - 1;
      const Xmm acc = code_.view(a.registers[size_t(copy)], a.lane);
      load ? code_.load_vector(acc, dtype, arrays_.element(a.pointer, copy), tail)
           : code_.store_vector(arrays_.element(a.pointer, copy), dtype, acc, tail, false);
      code_.release_temps();
    }
  }
}

// One accumulator in memory per column.
void Accumulators::fold_column(size_t output, const Xmm& value, int copy, bool tail) {
  const LoopOutput& out = nest_.program.outputs[output];
  const DType dtype = nest_.output_pointer(output).dtype;
  const Lane lane = analysis_.values[size_t(out.value)].lane;
  const Xmm acc = code_.temp(lane), updated = code_.temp(lane);
  const Address at = arrays_.element(nest_.program.inputs.size() + output, copy);
  code_.load_vector(acc, dtype, at, tail);
  fold(out.reduce, lane, updated, acc, value);
  code_.store_vector(at, dtype, updated, tail, false);
}

// Registers of the unrolled copies, then the lanes, halved until one is left.
void Accumulators::finish(bool per_row) {
  for (const Accumulator& a : all_) {
    if (a.columns || a.per_row != per_row) continue;
    const Xmm all = code_.temp(a.lane), next = code_.temp(a.lane);
    code_.move(all, code_.view(a.registers[0], a.lane));
    for (size_t i = 1; i < a.registers.size(); ++i) {
      fold(a.kind, a.lane, next, all, code_.view(a.registers[i], a.lane));
      code_.move(all, next);
    }
    fold_lanes(a, all);
    code_.release_temps();
  }
}

void Accumulators::fold_lanes(const Accumulator& a, const Xmm& all) {
  const int element = is_wide(a.lane) ? 64 : 32;
  const int index = all.getIdx(), other = code_.temp(a.lane).getIdx(),
            sum = code_.temp(a.lane).getIdx();
  for (int bits = code_.lanes() * element / 2; bits >= element; bits /= 2) {
    const Xmm low = code_.sized(index, std::max(bits, 128));
    if (bits == 256)
      code_.vextractf64x4(Xbyak::Ymm(other), Xbyak::Zmm(index), 1);
    else if (bits == 128)
      code_.evex() ? code_.vextractf32x4(Xmm(other), Xbyak::Ymm(index), 1)
                   : code_.vextractf128(Xmm(other), Xbyak::Ymm(index), 1);
    else
      code_.vpshufd(Xmm(other), Xmm(index), bits == 64 ? 0x4e : 0xb1);
    fold(a.kind, a.lane, code_.sized(sum, low.getBit()), low, code_.sized(other, low.getBit()));
    code_.move(low, code_.sized(sum, low.getBit()));
  }
  const Address at = arrays_.element_start(a.pointer);
  const bool wide = is_wide(a.lane);
  if (!nest_.overwrites[a.output]) {
    wide ? code_.vmovsd(Xmm(other), at) : code_.vmovss(Xmm(other), at);
    fold(a.kind, a.lane, Xmm(sum), Xmm(other), Xmm(index));
    code_.move(Xmm(index), Xmm(sum));
  }
  wide ? code_.vmovsd(at, Xmm(index)) : code_.vmovss(at, Xmm(index));
}

}  // namespace keratin::cpu

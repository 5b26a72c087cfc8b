#include <limits>

#include "keratin/backend/cpu/jit/emitter.h"

namespace keratin::cpu {

// The constant that leaves a fold as it is.
Emitter::Address Emitter::neutral(Reduce kind, Lane lane) {
  const bool max = kind == Reduce::max;
  switch (kind) {
    case Reduce::none:
    case Reduce::sum:
      return constant(lane, 0);
    case Reduce::prod:
      return constant(lane, 1);
    case Reduce::max:
    case Reduce::min:
      break;
  }
  switch (lane) {
    case Lane::f32:
    case Lane::f64: {
      const double infinity = std::numeric_limits<double>::infinity();
      return constant(lane, max ? -infinity : infinity);
    }
    case Lane::i32:
      return constant_bits(max ? 1u << 31 : ~0u >> 1);
    case Lane::i64:
      return constant_bits64(max ? uint64_t{1} << 63 : ~uint64_t{0} >> 1);
    case Lane::mask:
      break;
  }
  return constant_bits(max ? 0u : ~0u);
}

// d = a folded with b; d is neither of them.
void Emitter::fold(Reduce kind, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b) {
  switch (kind) {
    case Reduce::none:
    case Reduce::sum:
      return lane_add(lane, d, a, b);
    case Reduce::prod:
      return lane_mul(lane, d, a, b);
    case Reduce::max:
    case Reduce::min:
      return maximum(lane, kind == Reduce::max, d, a, b);
  }
}

void Emitter::clear_accumulators(bool per_row) {
  for (const Accumulator& a : accumulators_)
    if (a.per_row == per_row && !a.columns)
      for (int reg : a.registers) broadcast(view(reg, a.lane), a.lane, neutral(a.kind, a.lane));
}

// d = updated in the lanes that a tail really has.
void Emitter::keep_tail(Lane lane, const Xmm& d, const Xmm& updated) {
  const bool wide = is_wide(lane);
  if (evex_) return wide ? vmovapd(d | tail_k_, updated) : vmovaps(d | tail_k_, updated);
  const Xmm mask = tail_mask(lane);
  wide ? vblendvpd(d, d, updated, mask) : vblendvps(d, d, updated, mask);
}

void Emitter::fold_outputs(int copy, bool tail) {
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    const LoopOutput& out = program_.outputs[i];
    if (out.reduce == Reduce::none) continue;
    const Xmm value = use(out.value);
    const Accumulator* a = accumulator_of(i);
    if (a == nullptr) {
      fold_column(i, value, copy, tail);
    } else {
      // Lanes beyond a tail are never stored when there is one accumulator per column.
      const bool partial = tail && !a->columns;
      const size_t own = a->columns ? size_t(copy) : size_t(copy) % a->registers.size();
      const Xmm acc = view(a->registers[partial ? 0 : own], a->lane);
      const bool simple = !partial && (a->kind == Reduce::sum || a->kind == Reduce::prod);
      const Xmm updated = simple ? acc : temp(a->lane);
      fold(a->kind, a->lane, updated, acc, value);
      if (!simple) partial ? keep_tail(a->lane, acc, updated) : move(acc, updated);
    }
    release_temps();
  }
}

const Emitter::Accumulator* Emitter::accumulator_of(size_t output) const {
  for (const Accumulator& a : accumulators_)
    if (a.output == output) return &a;
  return nullptr;
}

// Accumulators of columns: into registers before the first row, back after the last.
void Emitter::move_columns(bool load) {
  forget_registers();
  for (const Accumulator& a : accumulators_) {
    if (!a.columns) continue;
    const DType dtype = nest_.pointers[a.pointer].dtype;
    for (int copy = 0; copy < static_cast<int>(a.registers.size()); ++copy) {
      const bool tail = copy == row_vectors_;
      const Xmm acc = view(a.registers[size_t(copy)], a.lane);
      load ? load_vector(acc, dtype, element(a.pointer, copy), tail)
           : store_vector(element(a.pointer, copy), dtype, acc, tail, false);
      release_temps();
    }
  }
}

// One accumulator in memory per column.
void Emitter::fold_column(size_t output, const Xmm& value, int copy, bool tail) {
  const LoopOutput& out = program_.outputs[output];
  const DType dtype = nest_.output_pointer(output).dtype;
  const Lane lane = values_[out.value].lane;
  const Xmm acc = temp(lane), updated = temp(lane);
  const Address at = element(program_.inputs.size() + output, copy);
  load_vector(acc, dtype, at, tail);
  fold(out.reduce, lane, updated, acc, value);
  store_vector(at, dtype, updated, tail, false);
}

// Registers of the unrolled copies, then the lanes, halved until one is left.
void Emitter::finish_accumulators(bool per_row) {
  for (const Accumulator& a : accumulators_) {
    if (a.columns || a.per_row != per_row) continue;
    const Xmm all = temp(a.lane), next = temp(a.lane);
    move(all, view(a.registers[0], a.lane));
    for (size_t i = 1; i < a.registers.size(); ++i) {
      fold(a.kind, a.lane, next, all, view(a.registers[i], a.lane));
      move(all, next);
    }
    fold_lanes(a, all);
    release_temps();
  }
}

void Emitter::fold_lanes(const Accumulator& a, const Xmm& all) {
  const int element = is_wide(a.lane) ? 64 : 32;
  const int index = all.getIdx(), other = temp(a.lane).getIdx(), sum = temp(a.lane).getIdx();
  for (int bits = lanes_ * element / 2; bits >= element; bits /= 2) {
    const Xmm low = sized(index, std::max(bits, 128));
    if (bits == 256)
      vextractf64x4(Xbyak::Ymm(other), Xbyak::Zmm(index), 1);
    else if (bits == 128)
      evex_ ? vextractf32x4(Xmm(other), Xbyak::Ymm(index), 1)
            : vextractf128(Xmm(other), Xbyak::Ymm(index), 1);
    else
      vpshufd(Xmm(other), Xmm(index), bits == 64 ? 0x4e : 0xb1);
    fold(a.kind, a.lane, sized(sum, low.getBit()), low, sized(other, low.getBit()));
    move(low, sized(sum, low.getBit()));
  }
  const Address at = element_start(a.pointer);
  const bool wide = is_wide(a.lane);
  if (!nest_.overwrites[a.output]) {
    wide ? vmovsd(Xmm(other), at) : vmovss(Xmm(other), at);
    fold(a.kind, a.lane, Xmm(sum), Xmm(other), Xmm(index));
    move(Xmm(index), Xmm(sum));
  }
  wide ? vmovsd(at, Xmm(index)) : vmovss(at, Xmm(index));
}

}  // namespace keratin::cpu

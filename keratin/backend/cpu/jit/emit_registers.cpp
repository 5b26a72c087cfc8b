#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "keratin/backend/cpu/jit/emitter.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {
constexpr int free_register = -1;
constexpr int temp_register = -2;
constexpr int reserved_register = -3;
}  // namespace

Emitter::Xmm Emitter::sized(int reg, int bits) {
  if (bits == 512) return Xbyak::Zmm(reg);
  if (bits == 256) return Xbyak::Ymm(reg);
  return Xmm(reg);
}

int Emitter::next_use(int value) const {
  const std::vector<int>& users = values_[value].users;
  const auto next = std::lower_bound(users.begin(), users.end(), position_);
  return next == users.end() ? std::numeric_limits<int>::max() : *next;
}

// A free register, or that of the value needed last.
int Emitter::take_register() {
  int victim = -1, farthest = -1;
  for (int reg = 0; reg < static_cast<int>(owner_.size()); ++reg) {
    if (owner_[reg] == free_register) return reg;
    if (owner_[reg] < 0 || std::find(pinned_.begin(), pinned_.end(), reg) != pinned_.end())
      continue;
    const int next = next_use(owner_[reg]);
    if (next > farthest) farthest = next, victim = reg;
  }
  ensure(victim >= 0, "loop code: an operation needs more registers than there are");
  spill(owner_[victim]);
  release(victim);
  return victim;
}

void Emitter::spill(int value) {
  Value& v = values_[value];
  if (v.home >= 0 || v.level == Level::constant) return;
  v.home = new_slot();
  vmovups(slot_address(v.home), view(v.reg, v.lane));
}

void Emitter::release(int reg) {
  if (owner_[reg] >= 0) values_[owner_[reg]].reg = -1;
  owner_[reg] = free_register;
}

Emitter::Xmm Emitter::use(int value) {
  Value& v = values_[value];
  if (v.reg < 0) {
    if (v.home < 0 && program_.is_input(value)) {
      load_input(value, copy_, tail_);
    } else {
      v.reg = take_register();
      owner_[v.reg] = value;
      if (v.home >= 0)
        vmovups(view(v.reg, v.lane), slot_address(v.home));
      else
        broadcast(view(v.reg, v.lane), v.lane, constant_of(program_.inst(value)));
    }
  }
  pinned_.push_back(v.reg);
  return view(v.reg, v.lane);
}

Emitter::Source Emitter::source(int value) {
  const Value& v = values_[value];
  if (v.reg < 0 && v.home >= 0) return {Xmm(0), slot_address(v.home), true};
  if (v.reg < 0 && v.level == Level::constant)
    return {Xmm(0), constant_of(program_.inst(value)), true};
  return {use(value), ptr[rsp], false};
}

Emitter::Xmm Emitter::define(int value) {
  Value& v = values_[value];
  v.reg = take_register();
  owner_[v.reg] = value;
  pinned_.push_back(v.reg);
  return view(v.reg, v.lane);
}

Emitter::Xmm Emitter::temp(Lane lane) {
  const int reg = take_register();
  owner_[reg] = temp_register;
  temps_.push_back(reg);
  return view(reg, lane);
}

void Emitter::release_temps() {
  for (int reg : temps_) owner_[reg] = free_register;
  temps_.clear();
  pinned_.clear();
}

// Frees temporaries and values that nothing uses any more.
void Emitter::end_instruction() {
  release_temps();
  ++position_;
  for (int reg = 0; reg < static_cast<int>(owner_.size()); ++reg)
    if (owner_[reg] >= 0 && next_use(owner_[reg]) == std::numeric_limits<int>::max()) release(reg);
}

void Emitter::forget_registers() {
  for (Value& v : values_) v.reg = -1;
  std::fill(owner_.begin(), owner_.end(), free_register);
  for (const Accumulator& a : accumulators_)
    for (int reg : a.registers) owner_[reg] = reserved_register;
}

int Emitter::new_slot() {
  max_slots_ = std::max(max_slots_, slots_ + 1);
  return slots_++;
}

// The pool repeats each constant over a register for AVX2, which has no broadcasting operands.
Emitter::Address Emitter::constant_bits(uint32_t bits) {
  std::array<uint32_t, 8> pattern;
  pattern.fill(bits);
  return pooled({reinterpret_cast<uint8_t*>(pattern.data()), evex_ ? 4 : size_t(lanes_) * 4});
}

Emitter::Address Emitter::constant_bits64(uint64_t bits) {
  std::array<uint64_t, 4> pattern;
  pattern.fill(bits);
  return pooled({reinterpret_cast<uint8_t*>(pattern.data()), evex_ ? 8 : size_t(lanes_) * 8});
}

Emitter::Address Emitter::pooled(std::span<const uint8_t> pattern) {
  const size_t size = pattern.size();
  size_t at = 0;
  while (at + size <= pool_.size() && std::memcmp(&pool_[at], pattern.data(), size) != 0)
    at += size;
  if (at + size > pool_.size()) {
    at = (pool_.size() + size - 1) / size * size;
    pool_.resize(at);
    pool_.insert(pool_.end(), pattern.begin(), pattern.end());
  }
  const auto expression = rbp + static_cast<int>(at);
  return evex_ ? ptr_b[expression] : ptr[expression];
}

Emitter::Address Emitter::constant(float value) {
  return constant_bits(std::bit_cast<uint32_t>(value));
}

Emitter::Address Emitter::constant(Lane lane, double value) {
  switch (lane) {
    case Lane::f32:
      return constant(static_cast<float>(value));
    case Lane::f64:
      return constant_bits64(std::bit_cast<uint64_t>(value));
    case Lane::i64:
      return constant_bits64(static_cast<uint64_t>(static_cast<int64_t>(value)));
    case Lane::i32:
    case Lane::mask:
      break;
  }
  return constant_bits(static_cast<uint32_t>(static_cast<int32_t>(value)));
}

Emitter::Address Emitter::constant_of(const LoopInst& inst) {
  switch (inst.dtype) {
    case DType::f64:
      return constant_bits64(std::bit_cast<uint64_t>(inst.real));
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return constant(static_cast<float>(inst.real));
    case DType::i64:
      return constant_bits64(static_cast<uint64_t>(inst.integer));
    case DType::boolean:
      return constant_bits(inst.integer != 0 ? ~0u : 0u);
    case DType::i8:
      return constant_bits(static_cast<uint32_t>(int32_t{static_cast<int8_t>(inst.integer)}));
    case DType::u8:
      return constant_bits(uint32_t{static_cast<uint8_t>(inst.integer)});
    case DType::i32:
      break;
  }
  return constant_bits(static_cast<uint32_t>(inst.integer));
}

// From the pool, or from any single element in memory.
void Emitter::broadcast(const Xmm& dst, Lane lane, const Address& constant) {
  const Address plain = ptr[constant.getRegExp(false)];
  if (!is_wide(lane)) return vbroadcastss(dst, plain);
  dst.isZMM() ? vbroadcastsd(Xbyak::Zmm(dst.getIdx()), plain)
              : vbroadcastsd(Xbyak::Ymm(dst.getIdx()), plain);
}

}  // namespace keratin::cpu

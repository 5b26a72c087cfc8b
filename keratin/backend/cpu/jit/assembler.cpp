#include "keratin/backend/cpu/jit/assembler.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace keratin::cpu {

Assembler::Assembler(VectorShape shape, std::vector<uint8_t>& buffer)
    : CodeGenerator(buffer.size(), buffer.data()),
      evex_(shape.evex),
      lanes_(shape.lanes),
      slot_bytes_(shape.evex ? 64 : 32),
      saved_rsp_slot_(new_slot()) {}

Xmm Assembler::sized(int reg, uint32_t bits) {
  if (bits == 512) return Xbyak::Zmm(reg);
  if (bits == 256) return Xbyak::Ymm(reg);
  return Xmm(reg);
}

// The frame's size and the distance of the pool are written when they are known, by `close`.
void Assembler::open() {
  for (const Reg64& reg : saved_registers) push(Reg64(reg));
  mov(rax, rsp);
  and_(rsp, -64);
  sub(rsp, 0x7fffffff);
  frame_patch_ = getSize() - 4;
  mov(slot_address(saved_rsp_slot_), rax);
  lea(rbp, ptr[rip + 0x7fffffff]);
  pool_patch_ = getSize() - 4;
}

void Assembler::leave() {
  vzeroupper();
  mov(rsp, slot_address(saved_rsp_slot_));
  for (size_t i = saved_registers.size(); i-- > 0;) pop(Reg64(saved_registers[i]));
  ret();
}

size_t Assembler::close() {
  align(64);
  rewrite(frame_patch_, (static_cast<uint64_t>(max_slots_) * slot_bytes_ + 63) / 64 * 64, 4);
  rewrite(pool_patch_, getSize() - (pool_patch_ + 4), 4);
  for (uint8_t byte : pool_) db(byte);
  return getSize();
}

int Assembler::new_slot() {
  max_slots_ = std::max(max_slots_, slots_ + 1);
  return slots_++;
}

// The pool repeats each constant over a register for AVX2, which has no broadcasting operands.
Address Assembler::constant_bits(uint32_t bits) {
  std::array<uint32_t, 8> pattern;
  pattern.fill(bits);
  return pooled({reinterpret_cast<uint8_t*>(pattern.data()), evex_ ? 4 : size_t(lanes_) * 4});
}

Address Assembler::constant_bits64(uint64_t bits) {
  std::array<uint64_t, 4> pattern;
  pattern.fill(bits);
  return pooled({reinterpret_cast<uint8_t*>(pattern.data()), evex_ ? 8 : size_t(lanes_) * 8});
}

Address Assembler::pooled(std::span<const uint8_t> pattern) {
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

Address Assembler::constant(float value) { return constant_bits(std::bit_cast<uint32_t>(value)); }

Address Assembler::constant(Lane lane, double value) {
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

Address Assembler::lane_numbers() {
  constexpr std::array<uint32_t, 8> numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  std::array<uint8_t, 32> bytes;
  std::memcpy(bytes.data(), numbers.data(), 32);
  return pooled(std::span(bytes).first(size_t(lanes_) * 4));
}

void Assembler::broadcast(const Xmm& dst, Lane lane, const Address& constant) {
  const Address plain = ptr[constant.getRegExp(false)];
  if (!is_wide(lane)) return vbroadcastss(dst, plain);
  dst.isZMM() ? vbroadcastsd(Xbyak::Zmm(dst.getIdx()), plain)
              : vbroadcastsd(Xbyak::Ymm(dst.getIdx()), plain);
}

void Assembler::zero(const Xmm& d) { vxorps(d, d, d); }

void Assembler::ones(const Xmm& d) {
  if (evex_)
    vpternlogd(d, d, d, 0xff);
  else
    vpcmpeqd(d, d, d);
}

void Assembler::move(const Xmm& d, const Xmm& a) {
  if (d.getIdx() != a.getIdx()) vmovaps(d, a);
}

}  // namespace keratin::cpu

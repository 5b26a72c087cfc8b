#pragma once

#include <xbyak/xbyak.h>

#include <span>
#include <vector>

#include "keratin/backend/cpu/jit/lane.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::cpu {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Reg64;
using Xmm = Xbyak::Xmm;  // of any width: Xbyak keeps the width in the object

// The shape of the vector code: AVX-512 (`evex`) or AVX2, and how many elements a vector has.
struct VectorShape {
  bool evex = false;
  int lanes = 0;
};

// Xbyak, with vector registers by lane, a pool of constants behind the code, and a stack frame of
// slots that hold a vector each. rsp and rbp point to the slots and to the pool.
class Assembler : public Xbyak::CodeGenerator {
 public:
  Assembler(VectorShape shape, std::vector<uint8_t>& buffer);

  bool evex() const { return evex_; }
  int lanes() const { return lanes_; }
  int register_count() const { return evex_ ? 32 : 16; }

  Xmm view(int reg, Lane lane) const {
    return sized(reg, static_cast<uint32_t>(lanes_ * (is_wide(lane) ? 64 : 32)));
  }
  static Xmm sized(int reg, uint32_t bits);

  // Opens the function: saves registers, makes room for the slots. `close` closes it and appends
  // the pool; it returns the size of all.
  void open();
  void leave();
  size_t close();

  int new_slot();
  // Slots that were made since the mark are free again.
  int slot_mark() const { return slots_; }
  void free_slots(int mark) { slots_ = mark; }
  Address slot_address(int slot) const {
    return ptr[rsp + static_cast<size_t>(slot) * slot_bytes_];
  }

  // The addresses of constants. AVX-512 repeats one over the lanes by itself.
  Address pooled(std::span<const uint8_t> pattern);
  Address constant_bits(uint32_t bits);
  Address constant_bits64(uint64_t bits);
  Address constant(float value);
  Address constant(Lane lane, double value);  // as that lane's type
  Address lane_numbers();                     // 0, 1, 2, ... in 32-bit lanes

  // One element at an address into every lane.
  void broadcast(const Xmm& dst, Lane lane, const Address& constant);
  Address offset(const Address& base, int bytes) { return ptr[base.getRegExp(false) + bytes]; }
  void zero(const Xmm& d);
  void ones(const Xmm& d);
  void move(const Xmm& d, const Xmm& a);

 private:
  const bool evex_;
  const int lanes_;
  const uint32_t slot_bytes_;
  size_t frame_patch_ = 0, pool_patch_ = 0;
  std::vector<uint8_t> pool_;
  int slots_ = 0, max_slots_ = 0;
  int saved_rsp_slot_;
  static constexpr std::array<Reg64, 6> saved_registers = {
      Reg64(3), Reg64(5), Reg64(12), Reg64(13), Reg64(14), Reg64(15)};  // rbx, rbp, r12 to r15
};

}  // namespace keratin::cpu

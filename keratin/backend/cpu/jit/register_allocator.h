#pragma once

#include "keratin/backend/cpu/jit/assembler.h"

namespace keratin::cpu {

// Gives vector registers to numbered values and to temporaries. When none is free, the value that
// is needed last moves to a stack slot. Code is written position by position; a value's users are
// the positions that read it, in order.
class RegisterAllocator : public Assembler {
 public:
  struct Held {
    Lane lane = Lane::f32;
    bool rebuilt = false;    // never spilled: it is read from the pool of constants again
    std::vector<int> users;  // positions
    int slot = -1;           // the stack slot that holds it, or -1
    int reg = -1;
  };

  RegisterAllocator(VectorShape shape, std::vector<uint8_t>& buffer)
      : Assembler(shape, buffer), owner_(size_t(register_count()), free_register) {}

  void set_values(std::vector<Held> values) { values_ = std::move(values); }
  bool in_register(int value) const { return held(value).reg >= 0; }
  bool in_slot(int value) const { return held(value).slot >= 0; }
  Address slot_of(int value) const { return slot_address(held(value).slot); }
  Lane lane(int value) const { return held(value).lane; }
  void forget_slot(int value) { held(value).slot = -1; }

  // Registers stay what they are until the end of the instruction.
  Xmm define(int value);            // a register for the value, which has none
  Xmm reload(int value);            // the same, loaded from its slot
  Xmm keep(int value);              // the register that it is in
  Xmm temp(Lane lane = Lane::f32);  // until the end of the instruction
  void spill(int value);            // to a slot, unless it is in one; it keeps its register
  void release_temps();
  void unpin() { pinned_.clear(); }

  // Goes to the next position: temporaries, and values that nothing uses any more, are free.
  void end_instruction();
  void set_position(int position) { position_ = position; }
  // All values leave their registers; those that are used later keep a copy in a slot.
  void save_all();
  // All registers are free but the reserved ones; nothing is written.
  void forget_registers();

  // Takes the highest register that is not reserved yet out of the allocation.
  struct Reserved {
    int reg;
    Lane lane;
  };
  int reserve(Lane lane);
  const std::vector<Reserved>& reserved() const { return reserved_; }

 private:
  static constexpr int free_register = -1, temp_register = -2, reserved_register = -3;

  Held& held(int value) { return values_[size_t(value)]; }
  const Held& held(int value) const { return values_[size_t(value)]; }
  int take_register();
  void release(int reg);
  int next_use(int value) const;

  std::vector<Held> values_;
  std::vector<int> owner_;   // of each register: a value, or one of the constants above
  std::vector<int> pinned_;  // registers of the instruction being written
  std::vector<int> temps_;
  std::vector<Reserved> reserved_;
  int position_ = 0;
};

}  // namespace keratin::cpu

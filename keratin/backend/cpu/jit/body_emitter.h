#pragma once

#include "keratin/backend/cpu/jit/array_addresses.h"
#include "keratin/backend/cpu/jit/lane_assembler.h"
#include "keratin/backend/cpu/jit/loop_analysis.h"

namespace keratin::cpu {

// Writes the instructions of a program: finds the operands in registers, on the stack, in arrays or
// among the constants, and has the LaneAssembler compute.
class BodyEmitter {
 public:
  BodyEmitter(const LoopNest& nest, const LoopAnalysis& analysis, LaneAssembler& code,
              ArrayAddresses& arrays);

  // Makes room on the stack for the operands of calls, and for the reserved registers.
  void make_call_slots();

  // The values of a level, each to a stack slot: the loops within may need every register.
  void emit_level(LoopLevel level);
  // The values of one vector of columns: the `copy`th from the index on, or the tail.
  void emit_columns(int copy, bool tail);

  Xmm use(int value);  // in a register

 private:
  // A second operand: a register or memory.
  struct Source {
    Xmm reg;
    Address memory;
    bool in_memory;
    const Operand& operator*() const {
      return in_memory ? static_cast<const Operand&>(memory) : reg;
    }
  };

  const LoopValue& value(int id) const { return analysis_.values[size_t(id)]; }
  bool is_constant(int id) const { return value(id).level == LoopLevel::constant; }
  Source source(int value);  // wherever it is
  void load_input(int value);
  Address constant_of(const LoopInst& inst);

  void emit(int id);
  bool emit_unary(const LoopInst& inst, int id);
  bool emit_binary(const LoopInst& inst, int id);
  bool emit_bits(const LoopInst& inst, int id);
  bool emit_multiply_add(const LoopInst& inst, int id);
  bool emit_comparison(const LoopInst& inst, int id);
  bool emit_test(const LoopInst& inst, int id);
  bool emit_function(const LoopInst& inst, int id);
  void emit_extremum(const LoopInst& inst, int id);
  void emit_cast(const LoopInst& inst, int id);
  void emit_select(const LoopInst& inst, int id);
  void emit_call(const LoopInst& inst, int id);

  const LoopProgram& program_;
  const LoopNest& nest_;
  const LoopAnalysis& analysis_;
  LaneAssembler& code_;
  ArrayAddresses& arrays_;
  int copy_ = 0;
  bool tail_ = false;
  int call_slots_ = 0, saved_slots_ = 0;
};

}  // namespace keratin::cpu

#pragma once

#include <xbyak/xbyak.h>

#include <optional>
#include <span>
#include <vector>

#include "keratin/backend/cpu/jit/loop_block.h"
#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// How a value sits in a vector register. Half types are f32, small integers are i32 (kept in their
// range), booleans are 32-bit masks of all ones or zeros.
enum class Lane : uint8_t { f32, f64, i32, i64, mask };

constexpr Lane lane_of(DType dtype) {
  constexpr std::array<Lane, 9> lanes = {Lane::f64, Lane::f32, Lane::f32, Lane::f32, Lane::i32,
                                         Lane::i32, Lane::i32, Lane::i64, Lane::mask};
  return lanes[static_cast<size_t>(dtype)];
}
constexpr bool is_wide(Lane lane) { return lane == Lane::f64 || lane == Lane::i64; }
constexpr bool is_real(Lane lane) { return lane == Lane::f32 || lane == Lane::f64; }

// Writes the machine code of one nest:
//
//   values that depend on no row
//   for each row:
//     values that depend on no column
//     for each vector of columns: load, compute, fold into accumulators, store
//
// Every value occupies `lanes_` elements of a register: 16 or 8 with AVX-512, 8 or 4 with AVX2, the
// lower number when the program has 64-bit values, whose registers are then twice as wide as those
// of 32-bit ones. What has no instruction is done by the interpreter's functions, called with one
// vector's worth of elements.
//
// The class is spread over several files: emitter.cpp (loops), emit_registers.cpp, emit_memory.cpp
// (loads and stores), emit_ops.cpp, emit_cast.cpp, emit_math.cpp, emit_reduce.cpp.
class Emitter : private Xbyak::CodeGenerator {
 public:
  using Xmm = Xbyak::Xmm;  // of any width: Xbyak keeps the width in the object
  using Reg64 = Xbyak::Reg64;
  using Address = Xbyak::Address;
  using Opmask = Xbyak::Opmask;

  Emitter(const LoopNest& nest, LoopIsa isa, bool stream, std::vector<uint8_t>& buffer);

  // The size of the code, at the start of the buffer.
  size_t emit();

 private:
  enum class Level : uint8_t { constant, call, row, column };  // how often a value changes
  struct Value {
    DType dtype;
    Lane lane;
    Level level = Level::column;
    bool folded = false;     // a comparison made by the select that uses it
    std::vector<int> users;  // ids of instructions; outputs count as one past the last
    int home = -1;           // a stack slot that holds it, or -1
    int reg = -1;
  };
  // A second operand: a register or memory.
  struct Source {
    Xmm reg;
    Address memory;
    bool in_memory;
    const Xbyak::Operand& operator*() const {
      return in_memory ? static_cast<const Xbyak::Operand&>(memory) : reg;
    }
  };
  struct Accumulator {
    size_t output, pointer;
    Reduce kind;
    Lane lane;
    bool per_row;                // finished after every row, else after the last
    bool columns;                // one element per column, else one in all
    std::vector<int> registers;  // one per unrolled copy, or vector of columns
  };

  // Loops (emitter.cpp).
  void analyse();
  void fold_compares();
  void assign_pointers();
  size_t append_pool();
  Address lane_numbers();
  void choose_unroll();
  void enter();
  void leave();
  void emit_rows();
  void emit_columns();
  void emit_level(Level level);
  void emit_vector(int copy, bool tail);
  void count_remaining();
  void begin_tail();
  void advance_pointers();
  void reserve_accumulators();

  // Registers and stack slots (emit_registers.cpp).
  Xmm view(int reg, Lane lane) const { return is_wide(lane) ? wide(reg) : narrow(reg); }
  Xmm narrow(int reg) const { return sized(reg, lanes_ * 32); }
  Xmm wide(int reg) const { return sized(reg, lanes_ * 64); }
  static Xmm sized(int reg, int bits);
  Xmm use(int value);               // in a register
  Source source(int value);         // wherever it is
  Xmm define(int value);            // a register for the result
  Xmm temp(Lane lane = Lane::f32);  // until the end of the instruction
  int take_register();
  void release(int reg);
  void spill(int value);
  void end_instruction();
  void release_temps();
  void forget_registers();
  int next_use(int value) const;
  int new_slot();
  Address slot_address(int slot) const { return ptr[rsp + slot * slot_bytes_]; }
  Address pooled(std::span<const uint8_t> pattern);
  Address constant_bits(uint32_t bits);
  Address constant_bits64(uint64_t bits);
  Address constant(float value);
  Address constant(Lane lane, double value);  // as that lane's type
  Address constant_of(const LoopInst& inst);
  void broadcast(const Xmm& dst, Lane lane, const Address& constant);

  // Memory (emit_memory.cpp).
  static int pointer_offset(size_t pointer) {
    return static_cast<int>(offsetof(LoopBlock, pointers) + pointer * sizeof(char*));
  }
  Address element(size_t pointer, int copy);
  Address element_start(size_t pointer) { return ptr[element(pointer, 0).getRegExp(false)]; }
  void load_input(int value, int copy, bool tail);
  void load_vector(const Xmm& dst, DType dtype, const Address& from, bool tail);
  void load_scalar(const Xmm& dst, DType dtype, const Address& from);
  void store_vector(const Address& to, DType dtype, const Xmm& value, bool tail, bool stream);
  void load_small_tail(const Xmm& dst, DType dtype, const Address& from);
  void store_small(const Address& to, DType dtype, const Xmm& packed, bool tail);
  Xmm pack(DType dtype, const Xmm& value);
  Xmm small_bits(DType dtype, const Xmm& value);
  void nonzero_to_mask(const Xmm& value);
  Address offset(const Address& base, int bytes);
  Xmm tail_mask(Lane lane);

  // Operations (emit_ops.cpp).
  void emit_inst(int id);
  void emit_inst_body(int id);
  bool emit_unary(const LoopInst& inst, int id);
  bool emit_binary(const LoopInst& inst, int id);
  void emit_sign_op(const LoopInst& inst, int id);
  void emit_real_sign(Lane lane, const Xmm& d, const Xmm& x);
  double constant_real(int value) const;
  static DType tile_dtype(DType dtype);
  bool emit_bits(const LoopInst& inst, int id);
  bool emit_fused(const LoopInst& inst, int id);
  bool emit_compare(const LoopInst& inst, int id);
  void emit_select(const LoopInst& inst, int id);
  void emit_call(const LoopInst& inst, int id);
  static bool calls_out(const LoopProgram& program, const LoopInst& inst, bool evex);
  void wrap_small(const Xmm& value, DType dtype);
  void lane_add(Lane lane, const Xmm& d, const Xmm& a, const Xbyak::Operand& b);
  void lane_sub(Lane lane, const Xmm& d, const Xmm& a, const Xbyak::Operand& b);
  void lane_mul(Lane lane, const Xmm& d, const Xmm& a, const Xbyak::Operand& b);
  void maximum(Lane lane, bool max, const Xmm& d, const Xmm& a, const Xmm& b);
  void round_to(Lane lane, int mode, const Xmm& d, const Xbyak::Operand& a);
  void compare_to_mask(ScalarOp op, Lane lane, const Opmask& k, const Xmm& a,
                       const Xbyak::Operand& b);
  void compare_to_vector(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);
  void choose(Lane lane, const Xmm& d, const Xmm& mask, const Xmm& yes, const Xmm& no);
  void ones(const Xmm& d);
  void zero(const Xmm& d);
  void move(const Xmm& d, const Xmm& a);

  // Conversions (emit_cast.cpp).
  void emit_cast(const LoopInst& inst, int id);
  void cast_from_real(Lane from, DType to, const Xmm& d, const Xmm& a);
  void cast_to_integer(Lane from, DType to, const Xmm& d, const Xmm& a);
  void cast_from_integer(Lane from, DType to, const Xmm& d, const Xmm& a);
  void cast_from_mask(DType to, const Xmm& d, const Xmm& a);
  void cast_to_mask(Lane from, const Xmm& d, const Xmm& a);
  void narrow_quads(const Xmm& d, const Xmm& a);
  void round_to_bf16(const Xmm& d, const Xmm& a);  // leaves the bits in the upper half

  // Functions of f32 (emit_math.cpp).
  bool emit_math(const LoopInst& inst, int id);
  void emit_exp(const Xmm& d, const Xmm& x);
  void emit_expm1(const Xmm& d, const Xmm& x);
  void emit_log(const Xmm& d, const Xmm& x);
  void emit_log1p(const Xmm& d, const Xmm& x);
  void emit_tanh(const Xmm& d, const Xmm& x);
  void emit_sigmoid(const Xmm& d, const Xmm& x);
  void emit_erf(const Xmm& d, const Xmm& x);
  void clamp(const Xmm& d, const Xmm& x, float low, float high);
  void reduce_exponent(const Xmm& r, const Xmm& n, const Xmm& x);
  void exp_tail(const Xmm& d, const Xmm& r, std::span<const float> coefficients);
  void power_of_two(const Xmm& d, const Xmm& n, int offset);
  void scale(const Xmm& d, const Xmm& p, const Xmm& n);
  void split_log(const Xmm& exponent, const Xmm& fraction, const Xmm& x);
  void log_polynomial(const Xmm& d, const Xmm& f, const Xmm& exponent);
  void fix_log(const Xmm& d, const Xmm& x);
  void horner(const Xmm& d, const Xmm& x, std::span<const float> coefficients);
  void blend_less(const Xmm& d, const Xmm& x, float bound, const Xmm& value);
  void copy_sign(const Xmm& d, const Xmm& sign);

  // Reductions (emit_reduce.cpp).
  const Accumulator* accumulator_of(size_t output) const;
  void move_columns(bool load);
  void clear_accumulators(bool per_row);
  void fold_outputs(int copy, bool tail);
  void finish_accumulators(bool per_row);
  void fold(Reduce kind, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);
  void fold_column(size_t output, const Xmm& value, int copy, bool tail);
  void fold_lanes(const Accumulator& accumulator, const Xmm& all);
  void keep_tail(Lane lane, const Xmm& d, const Xmm& updated);
  Address neutral(Reduce kind, Lane lane);

  const LoopNest& nest_;
  const LoopProgram& program_;
  const bool evex_;
  const bool stream_;
  int lanes_ = 0;
  int slot_bytes_ = 0;
  int unroll_ = 1;
  // Rows of a few vectors are written out instead of looped over: so many full vectors, and so many
  // elements in one more.
  bool short_rows_ = false;
  int row_vectors_ = 0, row_rest_ = 0;
  bool calls_ = false;
  size_t frame_patch_ = 0, pool_patch_ = 0;

  std::vector<Value> values_;
  std::vector<int> owner_;   // of each register: a value, or free_register and the like below
  std::vector<int> pinned_;  // registers of the instruction being written
  std::vector<int> temps_;
  std::vector<Accumulator> accumulators_;
  int position_ = 0;  // id of the instruction being written
  int copy_ = 0;
  bool tail_ = false;
  Level emitting_ = Level::column;

  std::vector<uint8_t> pool_;  // constants, after the code
  int slots_ = 0, max_slots_ = 0;
  int saved_rsp_slot_ = 0, tail_slot_ = 0, wide_tail_slot_ = 0, call_slots_ = 0, saved_slots_ = 0;

  Reg64 block_, index_, columns_, rows_;
  std::vector<std::optional<Reg64>> pointer_registers_;
  const Opmask tail_k_{1}, k2_{2};
  static constexpr std::array<Reg64, 6> saved_registers = {
      Reg64(3), Reg64(5), Reg64(12), Reg64(13), Reg64(14), Reg64(15)};  // rbx, rbp, r12 to r15
};

}  // namespace keratin::cpu

#pragma once

#include <array>
#include <span>

#include "keratin/backend/cpu/jit/register_allocator.h"
#include "keratin/ops/scalar_table.h"

namespace keratin::cpu {

// Operations on whole vector registers, as sequences of instructions with temporaries: loads,
// stores, conversions, arithmetic, comparisons and functions. `d` is the result; it is no operand
// unless the comment says so. Knows registers and addresses, but no program and no loop.
//
//   lane_memory.cpp      loads, stores, and the tail
//   lane_arithmetic.cpp  arithmetic and bits
//   lane_compare.cpp     comparisons and choices
//   lane_cast.cpp        conversions
//   lane_math.cpp        functions of f32
class LaneAssembler : public RegisterAllocator {
 public:
  LaneAssembler(VectorShape shape, std::vector<uint8_t>& buffer)
      : RegisterAllocator(shape, buffer), tail_slot_(new_slot()), wide_tail_slot_(new_slot()) {}

  // The tail: the elements of a row that are left over, fewer than a vector. Their number is
  // columns - index, or known when the code is written.
  void set_tail(const Reg64& index, const Reg64& columns) { index_ = index, columns_ = columns; }
  void set_tail(int count) { tail_count_ = count; }
  // Makes the mask of these elements; with `saved`, restore_tail brings it back after a call.
  void begin_tail(bool saved);
  void restore_tail(bool in_tail);
  // d = updated in the elements of the tail.
  void keep_tail(Lane lane, const Xmm& d, const Xmm& updated);

  // One element into every lane; a vector, or the elements of the tail.
  void load_scalar(const Xmm& dst, DType dtype, const Address& from);
  void load_vector(const Xmm& dst, DType dtype, const Address& from, bool tail);
  // With `stream`, past the cache.
  void store_vector(const Address& to, DType dtype, const Xmm& value, bool tail, bool stream);
  void prefetch_input(const Address& from) { prefetcht0(offset(from, prefetch_bytes)); }

  // Arithmetic in a lane's own type; results of small integers need wrap_small.
  void add_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b);
  void subtract_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b);
  void multiply_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b);
  void divide_lanes(Lane lane, const Xmm& d, const Xmm& a, const Operand& b);
  // ±(a * b) ± d into d, rounded once; `op` is fma, fms or fnma.
  void multiply_add(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a, const Operand& b);
  // Larger or smaller of two; NaN wins, or is in no lane of `a`.
  void extremum(Lane lane, bool max, const Xmm& d, const Xmm& a, const Xmm& b);
  void extremum_without_nan(Lane lane, bool max, const Xmm& d, const Xmm& a, const Xmm& b);
  void negate(Lane lane, const Xmm& d, const Xmm& a);
  void absolute(Lane lane, const Xmm& d, const Xmm& a);
  void sign(Lane lane, const Xmm& d, const Xmm& a);
  void relu(Lane lane, const Xmm& d, const Xmm& a);
  void square_root(Lane lane, const Xmm& d, const Xmm& a);
  void inverse_root(Lane lane, const Xmm& d, const Xmm& a);
  // Modes as in the instruction: 0 half to even, 1 down, 2 up, 3 towards zero.
  void round_to(Lane lane, int mode, const Xmm& d, const Operand& a);
  // Small integers are computed in 32 bits and brought back to their range.
  void wrap_small(const Xmm& value, DType dtype);
  void bit_not(const Xmm& d, const Xmm& a);
  void shift_left(Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);
  void shift_right(Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);
  void shift_right_logical(DType dtype, const Xmm& d, const Xmm& a, const Xmm& b);

  // d = a op b as a mask of 32-bit lanes.
  void compare(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);
  void choose(Lane lane, const Xmm& d, const Xmm& mask, const Xmm& yes, const Xmm& no);
  // AVX-512: d = a op b ? yes : no, without a mask in a vector register. `compare_for_choice` may
  // come before d is defined.
  void compare_for_choice(ScalarOp op, Lane lane, const Xmm& a, const Operand& b);
  void choose_by_comparison(Lane lane, const Xmm& d, const Xmm& yes, const Xmm& no);
  // d = |a|, as the tests for infinity need it.
  void magnitude(Lane lane, const Xmm& d, const Xmm& a);

  void convert(Lane from, DType to, const Xmm& d, const Xmm& a);

  // Whether apply_function writes an op of f32.
  static bool has_function(ScalarOp op);
  void apply_function(ScalarOp op, const Xmm& d, const Xmm& x);

 private:
  // How far ahead memory is prefetched. The processor does so by itself, but not for what another
  // one has just read or written, and not for the right to write: gradients and weights that
  // devices share.
  static constexpr int prefetch_bytes = 1024;

  void count_remaining();
  Xmm tail_mask(Lane lane);
  void load_small_tail(const Xmm& dst, DType dtype, const Address& from);
  void store_small(const Address& to, DType dtype, const Xmm& value, bool tail);
  Xmm pack(DType dtype, const Xmm& value);
  Xmm small_bits(DType dtype, const Xmm& value);
  void nonzero_to_mask(const Xmm& value);

  void real_sign(Lane lane, const Xmm& d, const Xmm& x);
  void compare_to_mask(ScalarOp op, Lane lane, const Xmm& a, const Operand& b);
  void compare_to_vector(ScalarOp op, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);

  void convert_real(Lane from, DType to, const Xmm& d, const Xmm& a);
  void convert_real_to_integer(Lane from, DType to, const Xmm& d, const Xmm& a);
  void convert_integer(Lane from, DType to, const Xmm& d, const Xmm& a);
  void convert_mask(DType to, const Xmm& d, const Xmm& a);
  void convert_to_mask(Lane from, const Xmm& d, const Xmm& a);
  void narrow_quads(const Xmm& d, const Xmm& a);
  void round_to_bf16(const Xmm& d, const Xmm& a);  // leaves the bits in the upper half

  void exp_function(const Xmm& d, const Xmm& x);
  void expm1_function(const Xmm& d, const Xmm& x);
  void log_function(const Xmm& d, const Xmm& x);
  void log1p_function(const Xmm& d, const Xmm& x);
  void tanh_function(const Xmm& d, const Xmm& x);
  void sigmoid_function(const Xmm& d, const Xmm& x);
  void erf_function(const Xmm& d, const Xmm& x);
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

  const Xbyak::Opmask tail_k_{1}, k2_{2};
  Reg64 index_, columns_;
  int tail_count_ = -1;
  int tail_slot_, wide_tail_slot_;
};

}  // namespace keratin::cpu

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keratin/ops/scalar_table.h"
#include "keratin/tensor/dtype.h"

namespace keratin::cpu {

enum class Reduce : uint8_t { none, sum, prod, max, min };

std::string_view name(Reduce kind);

inline constexpr int max_loop_dims = 8;
using LoopDims = std::array<int64_t, max_loop_dims>;

// An array read by the loop: its strides count elements, 0 where it is broadcast.
struct LoopInput {
  DType dtype = DType::f32;
  LoopDims strides{};

  bool operator==(const LoopInput&) const = default;
};

// One SSA operation. Values are numbered: first the inputs, then the instructions. Operands share
// one dtype, except the condition of `select`, which is boolean.
// Arithmetic on half types is done in float and rounded only by a cast or when stored.
struct LoopInst {
  ScalarOp op = ScalarOp::constant;
  DType dtype = DType::f32;  // of the result
  std::array<int32_t, 3> args{-1, -1, -1};
  double real = 0;      // a constant of a float dtype
  int64_t integer = 0;  // any other constant

  uint64_t bits() const { return std::bit_cast<uint64_t>(real); }
  // 0 and -0 are different constants, a NaN is equal to itself.
  bool operator==(const LoopInst& other) const {
    return op == other.op && dtype == other.dtype && args == other.args && bits() == other.bits() &&
           integer == other.integer;
  }
};

// Stores a value for every element, or reduces it over the axes in the bit set `reduced`. The array
// that is written is row-major.
struct LoopOutput {
  int32_t value = 0;
  DType dtype = DType::f32;  // of the array; the value is converted
  Reduce reduce = Reduce::none;
  uint32_t reduced = 0;

  bool operator==(const LoopOutput&) const = default;
};

// A loop nest over dims[0..rank) whose body is straight-line scalar code. An output may share its
// array with an input of the same dtype that is not broadcast.
struct LoopProgram {
  int rank = 0;
  LoopDims dims{};
  std::vector<LoopInput> inputs;
  std::vector<LoopInst> body;
  std::vector<LoopOutput> outputs;

  int32_t add_input(DType dtype, LoopDims strides);
  // A row-major input of the whole iteration space, and one element for all of it.
  int32_t add_input(DType dtype);
  int32_t add_scalar_input(DType dtype) { return add_input(dtype, LoopDims{}); }
  int32_t add_constant(DType dtype, double value);
  int32_t add(ScalarOp op, DType dtype, int32_t a, int32_t b = -1, int32_t c = -1);
  // As above, with the result dtype that the operation implies.
  int32_t add(ScalarOp op, int32_t a, int32_t b = -1, int32_t c = -1);
  void store(int32_t value) { outputs.push_back({value, dtype_of(value)}); }
  void reduce(Reduce kind, int32_t value, uint32_t axes) {
    outputs.push_back({value, dtype_of(value), kind, axes});
  }

  int32_t value_count() const { return static_cast<int32_t>(inputs.size() + body.size()); }
  bool is_input(int32_t value) const { return value < static_cast<int32_t>(inputs.size()); }
  const LoopInst& inst(int32_t value) const {
    return body[static_cast<size_t>(value) - inputs.size()];
  }
  DType dtype_of(int32_t value) const;
  // The dtype that the operands share.
  DType operand_dtype(const LoopInst& inst) const {
    return dtype_of(inst.args[inst.op == ScalarOp::select ? 1 : 0]);
  }
  int64_t element_count() const;
  // The number of elements of an output array.
  int64_t element_count(const LoopOutput& output) const;

  bool operator==(const LoopProgram&) const = default;
};

// Throws InternalError when an operand, dtype or axis is not what the operation allows.
void check(const LoopProgram& program);

std::string describe(const LoopProgram& program);

}  // namespace keratin::cpu

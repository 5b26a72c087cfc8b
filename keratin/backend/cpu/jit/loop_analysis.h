#pragma once

#include <vector>

#include "keratin/backend/cpu/jit/lane.h"
#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// How often a value changes.
enum class LoopLevel : uint8_t { constant, call, row, column };

struct LoopValue {
  DType dtype = DType::f32;
  Lane lane = Lane::f32;
  LoopLevel level = LoopLevel::column;
  bool folded = false;     // a comparison made by the select that uses it
  std::vector<int> users;  // ids of instructions, in order; outputs count as one past the last
};

// What code for a nest has to know of its program.
struct LoopAnalysis {
  std::vector<LoopValue> values;
  int lanes = 0;       // elements of a vector: fewer when there are 64-bit values
  bool calls = false;  // whether an instruction is a call of the interpreter's function
};

LoopAnalysis analyse(const LoopNest& nest, bool evex);

// Whether an instruction has machine code; the interpreter's function runs any other.
bool has_code(const LoopProgram& program, const LoopInst& inst, bool evex);

}  // namespace keratin::cpu
